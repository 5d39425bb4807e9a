import { didYouMean } from '../../enroll/did-you-mean.ts'

/** The members of one table of a mapping file. Every reader notes what is wrong, with its path, and goes on. */
export class Fields {
  readonly path: string
  readonly #values: ReadonlyMap<string, unknown>
  readonly #faults: string[]

  constructor(value: unknown, path: string, faults: string[]) {
    this.path = path
    this.#faults = faults
    const isTable = isObject(value)
    if (!isTable) faults.push(`${path === '' ? 'The mapping' : path}: must be a table.`)
    this.#values = new Map(isTable ? Object.entries(value) : [])
  }

  names(): string[] {
    return [...this.#values.keys()]
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): unknown {
    return this.#values.get(name)
  }

  fault(name: string, what: string): void {
    this.#faults.push(`${this.#at(name)}: ${what}.`)
  }

  /** Otherwise a misspelt setting would have no effect, and no error. */
  refuseOthers(names: readonly string[]): void {
    for (const name of this.names()) {
      if (!names.includes(name))
        this.fault(name, `unknown setting.${didYouMean(name, names)} Known settings: ${names.join(', ')}`)
    }
  }

  table(name: string): Fields | null {
    const value = this.#values.get(name)
    return value === undefined ? null : this.inner(value, name)
  }

  /** Another table, whose faults are noted below this name. */
  inner(value: unknown, name: string): Fields {
    return new Fields(value, this.#at(name), this.#faults)
  }

  text(name: string): string | null {
    const value = this.#values.get(name)
    if (value === undefined) return null
    if (typeof value === 'string' && value !== '') return value
    this.fault(name, 'must be a text')
    return null
  }

  requiredText(name: string): string {
    if (!this.has(name)) this.fault(name, 'is missing')
    return this.text(name) ?? ''
  }

  texts(name: string): readonly string[] | null {
    const value = this.#values.get(name)
    if (value === undefined) return null
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
    this.fault(name, 'must be a list of texts')
    return null
  }

  textOrTexts(name: string): readonly string[] {
    if (typeof this.#values.get(name) === 'string') return [this.text(name) ?? ''].filter((text) => text !== '')
    return this.texts(name) ?? []
  }

  boolean(name: string): boolean | null {
    const value = this.#values.get(name)
    if (value === undefined || typeof value === 'boolean') return value ?? null
    this.fault(name, 'must be true or false')
    return null
  }

  wholeNumber(name: string, least: number, most: number): number | null {
    const value = this.#values.get(name)
    if (value === undefined) return null
    // TOML's integers may come as bigint.
    const number = Number(value)
    if (typeof value !== 'string' && Number.isInteger(number) && number >= least && number <= most) return number
    this.fault(name, `must be a whole number from ${least} to ${most}`)
    return null
  }

  oneOf<const T extends string>(name: string, values: readonly T[]): T | null {
    const value = this.#values.get(name)
    if (value === undefined) return null
    const known = values.find((each) => each === value)
    if (known === undefined) this.fault(name, `must be one of ${values.join(', ')}`)
    return known ?? null
  }

  #at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
