// Loaded before a test process and before each Node that it starts: gives one file with a deliberate fault in it, so that no file is changed.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { applied, type Change } from './change.ts'

/** Names a file of JSON: the URL of the source file, and the change. */
const planted = process.env.BRIDGEWORK_MUTANT
if (planted) {
  const { url: mutated, change } = JSON.parse(readFileSync(planted, 'utf8')) as { url: string; change: Change }
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      return url === mutated ? { ...loaded, source: applied(String(loaded.source), change) } : loaded
    },
  })
}
