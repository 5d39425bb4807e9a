#!/usr/bin/env node
import { exitCodes } from './exit-codes.ts'
import { useSystemNetwork } from './network.ts'
import { run } from './run.ts'

// The one place that knows that there is a process.
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted.abort(new Error(`ended by ${signal}`))
    // A reader or a database that is silent is not waited for: every copy may be left at any line.
    setTimeout(() => process.exit(exitCodes.interrupted), 2_000).unref()
  })
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes its end has enough: `bridgework pull patients | head`.
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  process.stderr.write(`stdout: ${error.message}\n`)
  process.exit(exitCodes.failed)
})
// Who no longer reads what is said about the work does not end the work.
process.stderr.on('error', () => {})
const { stdin, stdout, stderr, env } = process
useSystemNetwork(env)
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: interrupted.signal })
// The process does not wait for what other calls in it may still fetch, a token for example.
if (interrupted.signal.aborted) process.exit()
