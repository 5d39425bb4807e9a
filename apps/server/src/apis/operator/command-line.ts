import { parseArgs } from 'node:util'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import { didYouMean } from './did-you-mean.ts'
import { Given } from './given.ts'
import { UsageError } from './usage-error.ts'

/** An option that takes a value, or a flag (`value` null). */
type Option = { value: string | null; isRequired?: boolean; isRepeatable?: boolean; help: string }

export type Verb = {
  help: string
  options: Readonly<Record<string, Option>>
  run: (context: Context, given: Given) => Promise<Answer>
}

export type Noun = { help: string; verbs: Readonly<Record<string, Verb>> }

export type Nouns = Readonly<Record<string, Noun>>

export type CommandLine = { help: string } | { verb: Verb; given: Given; isJson: boolean; usage: string }

/** Understands the arguments, or throws a UsageError that says what is accepted in their place. */
export function parseCommandLine(nouns: Nouns, args: readonly string[]): CommandLine {
  const wantsHelp = args.includes('--help') || args.includes('-h')
  const [nounName, verbName, ...rest] = args
  if (nounName === undefined || nounName === 'help' || nounName.startsWith('-')) {
    if (wantsHelp || nounName === undefined || nounName === 'help') return { help: usageOfAll(nouns) }
    throw new UsageError(`The first word is a noun, not "${nounName}".`, usageOfAll(nouns))
  }
  const noun = Object.hasOwn(nouns, nounName) ? nouns[nounName] : undefined
  if (!noun) {
    throw new UsageError(
      `There is no noun "${nounName}".${didYouMean(nounName, Object.keys(nouns))}`,
      usageOfAll(nouns),
    )
  }
  const usageOfThisNoun = usageOfNoun(nounName, noun)
  if (verbName === undefined || verbName.startsWith('-')) {
    if (wantsHelp || verbName === undefined) return { help: usageOfThisNoun }
    throw new UsageError(`After "${nounName}" comes a verb, not "${verbName}".`, usageOfThisNoun)
  }
  const verb = Object.hasOwn(noun.verbs, verbName) ? noun.verbs[verbName] : undefined
  if (!verb) {
    const message = `"${nounName}" has no verb "${verbName}".${didYouMean(verbName, Object.keys(noun.verbs))}`
    throw new UsageError(message, usageOfThisNoun)
  }
  const usage = usageOfVerb(nounName, verbName, verb)
  if (wantsHelp) return { help: usage }
  const values = parseOptions(verb, rest, usage)
  return { verb, given: new Given(values, usage), isJson: values.has('json'), usage }
}

const json: Option = { value: null, help: 'the answer as JSON' }

function parseOptions(verb: Verb, args: string[], usage: string): Map<string, string[]> {
  const accepted: Readonly<Record<string, Option>> = { ...verb.options, json }
  const { tokens } = parseArgs({
    args,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(accepted).map(
        ([name, { value }]) => [name, { type: value === null ? 'boolean' : 'string' }] as const,
      ),
    ),
  })
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') {
      throw new UsageError(`${token.kind === 'positional' ? `"${token.value}"` : '"--"'} is one word too many.`, usage)
    }
    const { name, rawName, value } = token
    const option = rawName.startsWith('--') && Object.hasOwn(accepted, name) ? accepted[name] : undefined
    if (!option) {
      const names = Object.keys(accepted).map((each) => `--${each}`)
      throw new UsageError(`There is no option ${rawName} here.${didYouMean(rawName, names)}`, usage)
    }
    if (values.has(name) && !option.isRepeatable) throw new UsageError(`${rawName} is given twice.`, usage)
    if (option.value === null) {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value.`, usage)
      values.set(name, [])
      continue
    }
    if (value === undefined || value === '' || (!token.inlineValue && value.startsWith('--'))) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`, usage)
    }
    values.set(name, [...(values.get(name) ?? []), value])
  }
  const missing = Object.entries(verb.options).filter(([name, { isRequired }]) => isRequired && !values.has(name))
  if (missing.length > 0) {
    throw new UsageError(`Missing: ${missing.map(([name, { value }]) => `--${name} ${value}`).join(', ')}.`, usage)
  }
  return values
}

function usageOfAll(nouns: Nouns): string {
  return [
    'Usage: npm run operator -- <noun> <verb> [options] [--json]',
    '',
    ...columns(Object.entries(nouns).map(([name, noun]) => [name, Object.keys(noun.verbs).join(', '), noun.help])),
    '',
    'More about one: npm run operator -- <noun> [<verb>] --help',
  ].join('\n')
}

function usageOfNoun(name: string, noun: Noun): string {
  return [
    `Usage: npm run operator -- ${name} <verb> [options] [--json]`,
    '',
    ...columns(Object.entries(noun.verbs).map(([verb, { help }]) => [`${name} ${verb}`, help])),
    '',
    `More about one: npm run operator -- ${name} <verb> --help`,
  ].join('\n')
}

function usageOfVerb(noun: string, name: string, verb: Verb): string {
  const options = Object.entries({ ...verb.options, json })
  const words = options.map(([option, { value, isRequired, isRepeatable }]) => {
    const text = `--${option}${value === null ? '' : ` ${value}`}${isRepeatable ? ' …' : ''}`
    return isRequired ? text : `[${text}]`
  })
  return [
    `Usage: npm run operator -- ${noun} ${name} ${words.join(' ')}`,
    '',
    verb.help,
    '',
    ...columns(options.map(([option, { value, help }]) => [`--${option}${value === null ? '' : ` ${value}`}`, help])),
  ].join('\n')
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows.map((row) => `  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('   ')}`.trimEnd())
}
