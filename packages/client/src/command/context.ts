import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Bridgework } from '../bridgework.ts'
import type { Environment } from './settings.ts'

/** The outside of the command: a test gives its own. */
export type Surroundings = {
  stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown }
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable & { isTTY?: boolean; columns?: number }
  env: Environment
  /** Fires on Ctrl-C. */
  signal: AbortSignal
}

/** The options of a command line. The command checks each. */
export type Options = {
  /** A text option; the last one counts. */
  text: (name: string) => string | undefined
  /** A repeatable one, also separated by commas. */
  list: (name: string) => string[] | undefined
  flag: (name: string) => boolean
}

export type Context = Surroundings & {
  /** Arguments that are no options. */
  args: readonly string[]
  options: Options
  /** Programs read the output. */
  json: boolean
  /** The client of the environment's or the kept key pair. */
  client: () => Bridgework
  /** For people: on stderr. */
  say: (text: string) => void
  /** Data: on stdout, at the reader's pace. */
  write: (text: string) => Promise<void>
}

/** Writes at the reader's pace. */
export async function writeTo(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

export type Command = {
  summary: string
  /** As shown behind the command's name. */
  usage: string
  /** Sentences under the usage. */
  details?: readonly string[]
  options: Readonly<Record<string, Option>>
  argsMax: number
  /** Gives the exit code. */
  run: (context: Context) => Promise<number>
}

export type Option = {
  summary: string
  /** A name for its value; an option without one is a flag. */
  value?: string
  /** What the value may be, for the shell's completion. */
  choices?: readonly string[]
  repeatable?: boolean
}
