import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type Family, officeChanges } from '../testing/test-changes.ts'
import { firstReadOf, type TestCopy, testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

describe('after any change at the practice, the copy is what a first read would give', () => {
  const cleanups: (() => Promise<void>)[] = []
  const later = { after: (work: () => Promise<void>) => void cleanups.unshift(work) }
  const clock = { now: new Date('2026-11-20T12:00:00Z') }
  let practice: Family
  let copy: TestCopy

  before(async () => {
    practice = await testFamily(mariaDb)
    copy = await testCopy(later, practice.settings, { now: () => clock.now })
    await copy.run()
  })

  after(async () => {
    for (const work of cleanups) await work()
  })

  /** By the database's clock: of every session of the agent from now on, and of the one in which changes happen. */
  let seconds = Math.floor(Date.now() / 1000)
  async function letAnHourPass(): Promise<void> {
    seconds += 3600
    await practice.execute('set global init_connect = ?', [`set timestamp = ${seconds}`])
    await practice.execute(`set timestamp = ${seconds}`)
  }

  for (const [what, concerned, happens] of officeChanges) {
    test(what, async () => {
      // Stamps of earlier changes must not bring in this one.
      await letAnHourPass()
      const earlier = copy.everything()

      await happens(practice, clock)
      const events = await copy.run()

      const now = copy.everything()
      assert.deepEqual(now, await firstReadOf(practice.settings, () => clock.now))
      const different = Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(earlier[key]))
      const datasets = new Set(different.map((key) => key.split(' ')[1]))
      const expected = concerned.split(' ').filter((each) => each !== 'full')
      assert.deepEqual([...datasets].sort(), expected.sort())
      if (concerned.endsWith('full')) return
      const full = events.filter((event) => event.event === 'dataset.reading' && event.fully !== null)
      assert.deepEqual(full, [])
    })
  }
})
