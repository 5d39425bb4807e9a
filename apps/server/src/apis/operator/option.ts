import { InvalidArgumentError, once } from '@bridgework/command-line'
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

/** An option of a command. `placeholder` stands for its value in the help; a flag has none. */
export type Option<Value> = {
  placeholder: string | null
  help: string
  isRequired: boolean
  collect(text: string, before: Value | undefined): Value
}

type Read<Value> = (text: string) => Value

/** An option without which the command is refused. */
export function required<Value>(placeholder: string, help: string, read: Read<Value>): Option<Value> {
  return { placeholder, help, isRequired: true, collect: once(read) }
}

/** An option that is undefined when it is not given. */
export function optional<Value>(placeholder: string, help: string, read: Read<Value>): Option<Value | undefined> {
  return { placeholder, help, isRequired: false, collect: once(read) }
}

/** A required option that may be repeated, or whose one value is the word `all`. */
export function severalOrAll<Value>(placeholder: string, help: string, read: Read<Value>): Option<Value[] | 'all'> {
  return {
    placeholder: `${placeholder}|all`,
    help,
    isRequired: true,
    collect: (text, before) => {
      if (before !== undefined && (before === 'all' || text === 'all'))
        throw new InvalidArgumentError('is "all" or a list, not both.')
      return text === 'all' ? 'all' : [...(before ?? []), read(text)]
    },
  }
}

/** An option without a value: true, or undefined when it is not given. */
export function flag(help: string): Option<true | undefined> {
  return { placeholder: null, help, isRequired: false, collect: () => true }
}

// What a value may be. Each reader goes on after the option's name: "--hours must be …".

export const text: Read<string> = (value) => value

export function oneOf<const Word extends string>(words: readonly Word[]): Read<Word> {
  return (value) => words.find((word) => word === value) ?? refuse(`must be one of: ${words.join(', ')}.`)
}

export function wholeNumber(max: number): Read<number> {
  return (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : 0
    return number >= 1 && number <= max ? number : refuse(`must be a whole number from 1 to ${max}.`)
  }
}

export const releaseVersion: Read<string> = (value) =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(value) ? value : refuse('must be a version like 1.2.3.')

export const instant: Read<Date> = (value) => {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/
  const date = form.test(value) ? new Date(value) : null
  // A day that does not exist rolls over into the next month, so it comes back as another one.
  const isDay =
    date && Number.isFinite(date.getTime()) && new Date(value.slice(0, 10)).toISOString().startsWith(value.slice(0, 10))
  return isDay ? date : refuse('must be a day like 2026-11-20 or an instant like 2026-11-20T08:00:00Z.')
}

export function numericId<Id extends OrganizationId | LocationId | AgentId>(value: string): Id {
  return parseNumericId<Id>(value) ?? refuse('must be an id: a positive whole number in decimal digits.')
}

export function uuid<Id extends CompanyId | MemberId>(value: string): Id {
  return parseUuid<Id>(value.toLowerCase()) ?? refuse('must be an id like 1b4e28ba-2fa1-4d2b-883f-0016d3cca427.')
}

export const datasetName: Read<DatasetName> = (value) =>
  isDatasetName(value) ? value : refuse(`must be one of: ${datasetNames.join(', ')}.`)

function refuse(message: string): never {
  throw new InvalidArgumentError(message)
}
