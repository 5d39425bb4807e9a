// Loaded before the tests of a whole run. A process whose tests ended and that something keeps alive would hold up the whole run for ever: node:test has no
// limit for that. It says what it waits for, and fails.
import { after } from 'node:test'

/** Servers and pools that a test closes may take their longest time limit. */
const waitMs = Number(process.env.BRIDGEWORK_TEST_END_MS ?? 60_000)

after(() => {
  setTimeout(() => {
    console.error(`The tests ended ${waitMs} ms ago, and this keeps their process:`, process.getActiveResourcesInfo())
    process.exit(1)
  }, waitMs).unref()
})
