import { type DatasetName, datasetNames, isDatasetName } from '@bridgework/contract'
import {
  type AgentId,
  type CompanyId,
  type LocationId,
  type MemberId,
  type OrganizationId,
  parseNumericId,
  parseUuid,
} from '../../platform/identity/identity.ts'
import { didYouMean } from './did-you-mean.ts'
import { UsageError } from './usage-error.ts'

/** The options of a command, read into what they mean. Each reader throws a UsageError that names the option and what it takes. */
export class Given {
  readonly #values: ReadonlyMap<string, readonly string[]>
  readonly #usage: string

  constructor(values: ReadonlyMap<string, readonly string[]>, usage: string) {
    this.#values = values
    this.#usage = usage
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  find(name: string): string | undefined {
    return this.#values.get(name)?.[0]
  }

  text(name: string): string {
    return this.find(name) ?? this.#refuse(`Missing: --${name}.`)
  }

  oneOf<const Word extends string>(name: string, words: readonly Word[]): Word {
    const text = this.text(name)
    const word = words.find((each) => each === text)
    return word ?? this.#refuse(`--${name} must be one of: ${words.join(', ')}.${didYouMean(text, words)}`)
  }

  wholeNumber(name: string, fallback: number, max: number): number {
    const text = this.find(name)
    if (text === undefined) return fallback
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
    return value >= 1 && value <= max ? value : this.#refuse(`--${name} must be a whole number from 1 to ${max}.`)
  }

  instant(name: string): Date | undefined {
    const text = this.find(name)
    if (text === undefined) return undefined
    const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/
    const date = form.test(text) ? new Date(text) : null
    // A day that does not exist rolls over into the next month, so it comes back as another one.
    const isDay =
      date && Number.isFinite(date.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10))
    return isDay
      ? date
      : this.#refuse(`--${name} must be a day like 2026-11-20 or an instant like 2026-11-20T08:00:00Z.`)
  }

  numericId<Id extends OrganizationId | LocationId | AgentId>(name: string): Id {
    return this.#numericId<Id>(name, this.text(name))
  }

  findNumericId<Id extends OrganizationId | LocationId | AgentId>(name: string): Id | undefined {
    const text = this.find(name)
    return text === undefined ? undefined : this.#numericId<Id>(name, text)
  }

  uuid<Id extends CompanyId | MemberId>(name: string): Id {
    return this.#uuid<Id>(name, this.text(name))
  }

  findUuid<Id extends CompanyId | MemberId>(name: string): Id | undefined {
    const text = this.find(name)
    return text === undefined ? undefined : this.#uuid<Id>(name, text)
  }

  /** One or more location ids, or the word `all`. */
  locations(name: string): LocationId[] | 'all' {
    const texts = this.#list(name)
    return texts === 'all' ? 'all' : texts.map((text) => this.#numericId<LocationId>(name, text))
  }

  /** One or more names of datasets, or the word `all`. */
  datasets(name: string): DatasetName[] | 'all' {
    const texts = this.#list(name)
    return texts === 'all' ? 'all' : texts.map((text) => this.#dataset(name, text))
  }

  dataset(name: string): DatasetName {
    return this.#dataset(name, this.text(name))
  }

  #list(name: string): readonly string[] | 'all' {
    const texts = this.#values.get(name) ?? []
    if (!texts.includes('all')) return texts
    return texts.length === 1 ? 'all' : this.#refuse(`--${name} is "all" or a list, not both.`)
  }

  #dataset(name: string, text: string): DatasetName {
    if (isDatasetName(text)) return text
    return this.#refuse(`--${name} must be one of: ${datasetNames.join(', ')}.${didYouMean(text, datasetNames)}`)
  }

  #numericId<Id extends OrganizationId | LocationId | AgentId>(name: string, text: string): Id {
    return (
      parseNumericId<Id>(text) ?? this.#refuse(`--${name} must be an id: a positive whole number in decimal digits.`)
    )
  }

  #uuid<Id extends CompanyId | MemberId>(name: string, text: string): Id {
    return (
      parseUuid<Id>(text.toLowerCase()) ??
      this.#refuse(`--${name} must be an id like 1b4e28ba-2fa1-4d2b-883f-0016d3cca427.`)
    )
  }

  #refuse(message: string): never {
    throw new UsageError(message, this.#usage)
  }
}
