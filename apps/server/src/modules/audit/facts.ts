import { datasetNames, getDataset } from '@bridgework/contract'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { quoted } from './quoted.ts'

/** A sentence with places for facts. `details`: what a person may want to see beside it. */
export type Said = string | { what: string; details: string }

/** A kind of act: the shape of its facts, what it is called in general, and what its facts say. */
export type Act = {
  readonly facts: TProperties
  readonly general: string
  // A function of facts of this very shape, which the table cannot say for all acts.
  readonly say: (facts: never) => Said
}

/** An act whose sentence is the same for all facts, or depends on them. */
export function act<const Facts extends TProperties, const Words extends string>(
  facts: Facts,
  general: Words & (PlacesOf<Words> extends keyof Facts ? unknown : never),
  say: (facts: Static<TObject<Facts>>) => Said = () => general,
) {
  return { facts, general: general as string, say }
}

type PlacesOf<Words> = Words extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never

/** What somebody wrote, or an id: shown quoted. */
export const Text = Type.String()
/** A domain, a time zone, a version or the like: shown without quotation marks, so no other signs are allowed. */
export const Code = Type.String({ pattern: '^[\\w.:/+-]+$' })
/** Words that the code chose: shown without quotation marks. */
export const FixedWords = Type.String({ pattern: '^[a-z\\d -]+$' })
export const Dataset = Type.String({ pattern: '^[a-z_]+$' })
export const Count = Type.Integer()
export const Flag = Type.Boolean()
export const Person = Type.Object({ name: Text, email: Text })
/** A company, a practice, a location or an agent: by its id, and by its name as it was then. */
export const Named = Type.Object({ id: Text, name: Text })

/**
 * What may be read where. `places`: names of locations, or only their number; or all locations, with those that the practice adds later.
 * `future`: with those, or those alone. `notes`: with the notes of records, or these alone where the rest is granted already.
 */
export const AccessFacts = Type.Array(
  Type.Object({
    datasets: Type.Array(Type.Object({ name: Dataset, notes: Type.Enum(['none', 'with', 'alone']) })),
    places: Type.Union([Type.Literal('all'), Count, Type.Array(Text)]),
    future: Flag,
  }),
)
export type AccessFacts = Static<typeof AccessFacts>

export function orNull<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()])
}

/**
 * Puts the facts in the places that name them: `Revoked the agent {agent}`. The only way from a fact to a sentence: what somebody wrote is quoted in
 * every place.
 */
export function fill(sentence: string, shapes: TProperties, facts: Readonly<Record<string, unknown>>): string {
  return sentence.replaceAll(place, (_, name: string) => inWords(facts[name], shapes[name] ?? Text))
}

/** The same without facts. */
export function unfilled(sentence: string): string {
  return sentence.replaceAll(place, '…')
}

const place = /\{(\w+)\}/g

function inWords(fact: unknown, shape: TSchema): string {
  if (fact === null || fact === undefined) return 'none'
  if (shape === AccessFacts) return accessInWords(fact as AccessFacts)
  if ('anyOf' in shape) return inWords(fact, (shape.anyOf as TSchema[])[0] ?? Text)
  if (Array.isArray(fact))
    return all.format(fact.map((each) => inWords(each, (shape as { items?: TSchema }).items ?? Text)))
  if (typeof fact === 'number') return fact.toLocaleString('en-US')
  if (typeof fact === 'object') {
    const { name, email } = fact as { name?: string; email?: string }
    return quoted(email === undefined ? `${name}` : `${name} <${email}>`)
  }
  if (shape === Dataset) return titleOf(`${fact}`)
  return 'pattern' in shape ? `${fact}` : quoted(`${fact}`)
}

/** `Patients and Treatments with notes at “Main Street”; Fee schedules at 12 locations`. */
export function accessInWords(access: AccessFacts): string {
  const parts = access.map(({ datasets, places, future }) => {
    const labels = datasets.map(({ name, notes }) => {
      if (notes === 'alone') return `notes of ${titleOf(name)}`
      return notes === 'with' ? `${titleOf(name)} with notes` : titleOf(name)
    })
    return `${all.format(labels)} at ${placesInWords(places, future)}`
  })
  return parts.join('; ') || 'nothing'
}

function placesInWords(places: AccessFacts[number]['places'], future: boolean): string {
  if (places === 'all') return 'all locations'
  if (places === 0) return 'locations of the future'
  const now = typeof places === 'number' ? `${places} locations` : all.format(places.map(quoted))
  return future ? `${now} and locations of the future` : now
}

/** The names of the datasets whose titles have this text in them, in any case. */
export function datasetsTitled(search: string): string[] {
  return datasetNames.filter((name) => getDataset(name).title.toLowerCase().includes(search.toLowerCase()))
}

/** As a later release may name one that this release does not have. */
function titleOf(dataset: string): string {
  const known = datasetNames.find((name) => name === dataset)
  return known === undefined ? dataset : getDataset(known).title
}

const all = new Intl.ListFormat('en', { type: 'conjunction' })
