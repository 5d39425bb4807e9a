import { fstatSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline'
import { runFeeder } from './feeder.ts'
import { type FeederConfig, FeederConfigInvalid, readFeederConfig } from './feeder-config.ts'
import { feederExitCodes } from './feeder-exit-codes.ts'
import { type FeederOrder, readOrder } from './feeder-order.ts'

/** How long a request under way may still take after the word to stop. Whatever it was doing is taken up at the next start. */
const stopWithinMs = 3_000

const stopping = new AbortController()

function stop(): void {
  if (stopping.signal.aborted) return
  stopping.abort()
  setTimeout(() => process.exit(0), stopWithinMs).unref()
}

/** The process that started us holds the other end of standard input: when that end closes, it is gone, and we end. */
function stopWithParent(): void {
  process.once('disconnect', stop)
  const input = fstatSync(0, { throwIfNoEntry: false })
  if (!input?.isFIFO() && !input?.isSocket()) return
  process.stdin.on('error', stop).once('end', stop).resume()
}

/** The server's orders come on standard input. */
function onOrder(take: (order: FeederOrder) => void): void {
  createInterface({ input: process.stdin }).on('line', (line) => take(readOrder(line)))
}

function readConfigOrExit(): FeederConfig {
  try {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    return readFeederConfig(
      process.env,
      interfaces.map(({ address }) => address),
    )
  } catch (error) {
    if (!(error instanceof FeederConfigInvalid)) throw error
    console.error(error.message)
    process.exit(feederExitCodes.settings)
  }
}

const config = readConfigOrExit()
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
process.stdout.on('error', stop)
stopWithParent()
const outcome = await runFeeder(config, {
  print: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
  signal: stopping.signal,
  onOrder,
})
// Not by running out of work: the pipe to a parent that lives on would keep this process.
process.exit(outcome === 'stopped' ? feederExitCodes.stopped : feederExitCodes.keyRefused)
