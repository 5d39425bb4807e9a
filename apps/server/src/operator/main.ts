import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { openContext } from './context.ts'
import { runOperator } from './run.ts'

const err = (text: string) => console.error(text)

// A command takes a moment and has a database to close: Ctrl-C lets it end, a second one does not wait.
process.once('SIGINT', () => {})

process.exitCode = await runOperator(process.argv.slice(2), {
  open: async () => await openContext(readConfig(process.env, join(import.meta.dirname, '../../../..')), err),
  out: (text) => console.log(text),
  err,
})
