import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { readConfig } from '../../config.ts'
import { openContext } from './context.ts'
import { createProgress } from './progress.ts'
import { runOperator } from './run.ts'

const err = (text: string) => console.error(text)

// A command takes a moment and has a database to close: Ctrl-C and SIGTERM let it end, and stop a long one; a second one does not wait.
const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
process.once('SIGTERM', () => ending.abort())
// The reader of a pipe has gone, as `head` does: nothing more is to be written.
process.stdout.on('error', () => ending.abort())
const write = (text: string) => new Promise<void>((resolve) => process.stdout.write(text, () => resolve()))
const progress = createProgress({
  write: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
  nowMs: Date.now,
})

const ask = process.stdin.isTTY === true ? askOnTerminal : null

process.exitCode = await runOperator(process.argv.slice(2), {
  open: async ({ migrates }) => {
    const config = readConfig(process.env, join(import.meta.dirname, '../../../../..'))
    return await openContext(config, { say: err, ask, write, signal: ending.signal, progress, migrates })
  },
  out: (text) => console.log(text),
  err,
})

/** The line that the person types; empty when they end the input or press Ctrl-C. */
async function askOnTerminal(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('SIGINT', () => lines.close())
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return await Promise.race([lines.question(question), closed])
  } finally {
    lines.close()
  }
}
