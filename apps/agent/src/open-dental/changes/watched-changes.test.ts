import assert from 'node:assert/strict'
import { readdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type Family, officeChanges } from '../testing/test-changes.ts'
import { firstReadOf, type TestCopy, testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

describe('after any change the copy is what a first read would give, also when one session serves all cycles and reads only tables that were written to', () => {
  const clock = { now: new Date('2026-11-20T12:00:00Z') }
  const cleanups: (() => Promise<void>)[] = []
  const later = { after: (work: () => Promise<void>) => void cleanups.unshift(work) }
  let practice: Family
  let copy: TestCopy
  let settledAt: Date

  /** Gives each data file the time that it had before, as if the last write was long ago. */
  function settle(): void {
    const folder = join(dirname(practice.settings.socket), 'data', practice.name)
    for (const file of readdirSync(folder))
      if (file.endsWith('.MYD')) utimesSync(join(folder, file), settledAt, settledAt)
  }

  before(async () => {
    practice = await testFamily(mariaDb)
    // Later than the tables were made, as a server shows it whose times move; and some time ago.
    settledAt = new Date((Math.floor(Date.now() / 1000) + 2) * 1000)
    await new Promise((resolve) => setTimeout(resolve, settledAt.getTime() + 2_500 - Date.now()))
    await practice.execute('flush tables')
    settle()
    copy = await testCopy(later, practice.settings, { now: () => clock.now, keepsSession: true })
    await copy.run()
  })

  after(async () => {
    for (const work of cleanups) await work()
  })

  for (const [what, , happens] of officeChanges) {
    test(what, async () => {
      await happens(practice, clock)
      clock.now = new Date(clock.now.getTime() + 60_000)
      await copy.run()
      assert.deepEqual(copy.everything(), await firstReadOf(practice.settings, () => clock.now))
      settle()
      await copy.run()
    })
  }
})
