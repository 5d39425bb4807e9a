import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { ingestClient } from '../ingest-client.ts'
import { openDentalConnector } from '../open-dental/connector.ts'
import { testPractice } from '../open-dental/testing/test-practice.ts'
import { startTestService } from '../testing/test-service.ts'
import { askTimeZone } from './enroll-time-zone.ts'

test('enroll asks for the time zone where nothing tells it, until the answer is an IANA name', async (t) => {
  const practice = await testPractice(await startTestMariaDb({ after }))
  const server = await startTestService(t)
  const client = ingestClient({ ...server, serverUrl: server.url })
  const asking = async (answers: string[] | null, settings = practice.settings) => {
    const printed: string[] = []
    const left = [...(answers ?? [])]
    const ask = async (question: string) => {
      assert.equal(question, 'Time zone of the practice, as America/Chicago (empty: set it later): ')
      return left.shift() ?? assert.fail('asked too often')
    }
    const zone = await askTimeZone(client, openDentalConnector(settings, null), {
      ask: answers === null ? null : ask,
      print: (line) => printed.push(line),
    })
    return { zone, printed: printed.join('\n'), left: left.length }
  }
  // The practice's postal code tells it.
  assert.deepEqual(await asking([]), { zone: null, printed: '', left: 0 })

  await practice.setPreference('PracticeZip', '97914')
  const answered = await asking(['CST', '-06:00', 'America/Boise'])
  assert.deepEqual([answered.zone, answered.left], ['America/Boise', 0])
  assert.match(
    answered.printed,
    /The time zone of North, South is not known, and nothing is read without it\..*\n"CST" is not a name/,
  )
  for (const answers of [[''], null]) {
    const later = await asking(answers)
    assert.equal(later.zone, null)
    assert.match(later.printed, /Set it at Bridgework.*America\/Chicago/)
  }
  // What people set at Bridgework counts; a database that cannot be reached is no reason to ask.
  await server.setTimeZone('America/Boise')
  assert.deepEqual(await asking([]), { zone: null, printed: '', left: 0 })
  assert.deepEqual(await asking([], { ...practice.settings, password: 'wrong' }), { zone: null, printed: '', left: 0 })
})
