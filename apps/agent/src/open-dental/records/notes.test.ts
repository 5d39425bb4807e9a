import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { datasetsWithNotes, getDataset } from '@bridgework/contract'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { removeNotesSlice } from '../../../../server/src/modules/records/removals/note-remover.ts'
import { noZones } from '../../connector.ts'
import { openDentalConnector } from '../connector.ts'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })
const now = () => new Date('2026-11-20T12:00:00Z')

test('notes are read, sent and stored only while a company may read them, and every change of one arrives', async (t) => {
  const practice = await someNotes()
  const copy = await testCopy(t, practice.settings, { now })
  const { service, requests } = copy.server
  const noted = () =>
    datasetsWithNotes.flatMap((name) => {
      const [note = ''] = getDataset(name).notes
      return ['1', '2'].flatMap((location) =>
        [...copy.visible(location, name)].flatMap(([id, attributes]) =>
          attributes[note] === null ? [] : [`${location} ${id}: ${attributes[note]}`],
        ),
      )
    })
  const fullReads = (events: Awaited<ReturnType<typeof copy.run>>) =>
    events.flatMap((event) => (event.event === 'dataset.reading' && event.fully !== null ? [event.fully] : []))

  // Without a grant no statement names a column with a note, and nothing of one leaves the office.
  await mariaDb.execute(`set global log_output = 'TABLE', general_log = on`)
  await copy.run()
  await copy.run()
  await mariaDb.execute('set global general_log = off')
  const statements = (await mariaDb.execute('select convert(argument using utf8) as text from mysql.general_log'))
    .map((row) => String(row.text))
    .filter((text) => /^\s*(\(|select)/i.test(text) && !/information_schema|general_log/i.test(text))
  assert.ok(statements.some((text) => /from procedurelog/.test(text)))
  for (const text of statements)
    assert.doesNotMatch(text.replaceAll(/null as \w+/g, ''), /\bnote\b|AdjNote|PayNote|procnote/i)
  assert.deepEqual(noted(), [])
  assert.ok(!requests.some(({ body }) => body.includes('Noted')))

  // Granted: the next cycle reads these datasets fully, once.
  await copy.server.grantNotes()
  assert.deepEqual(
    fullReads(await copy.run()),
    datasetsWithNotes.map(() => 'notes_changed'),
  )
  const all = [
    '1 1: Noted visit',
    '1 1: Noted: newest',
    '1 adj:1: Noted adjustment',
    '1 split:1: Noted payment',
    '2 1: Noted referral',
  ]
  assert.deepEqual(noted().toSorted(), all)
  assert.deepEqual(fullReads(await copy.run()), [])

  // A new version has a row of its own; the treatment's stays as it was. The second one's key is lower than others: keys may be random.
  await practice.insert('procnote', note(20, 1, '2026-10-03 10:00:00', 'Noted: by key'))
  await copy.run()
  assert.ok(noted().includes('1 1: Noted: by key'))
  await practice.insert('procnote', note(2, 1, '2026-10-04 10:00:00', 'Noted: by comparison'))
  await practice.execute(
    `update payment set PayNote = 'Noted: corrected', SecDateTEdit = '2026-01-02 03:04:05' where PayNum = 1`,
  )
  await copy.run()
  assert.ok(noted().includes('1 1: Noted: by comparison'))
  assert.ok(noted().includes('1 split:1: Noted: corrected'))

  // Taken away: the service loses them without the agent, which then sends null, and nothing is new for the service.
  await copy.server.grantNotes(false)
  while ((await removeNotesSlice(service.pool, service.log)) !== null);
  const { changed } = await copy.server.counts()
  assert.deepEqual(
    fullReads(await copy.run()),
    datasetsWithNotes.map(() => 'notes_changed'),
  )
  assert.deepEqual(noted(), [])
  assert.equal((await copy.server.counts()).changed, changed)
})

test('an office that sends no notes sends none, whatever is granted', async (t) => {
  const practice = await someNotes()
  const copy = await testCopy(t, practice.settings, { now, sendNotes: false })
  await copy.server.grantNotes()
  await copy.run()
  await copy.run()
  assert.ok(copy.server.requests.some(({ kind }) => kind === 'records'))
  assert.ok(!copy.server.requests.some(({ body }) => body.includes('Noted')))
})

test('a database user without the right to the notes of treatments reads everything else', async (t) => {
  const practice = await someNotes()
  await practice.execute('drop table procnote')
  const copy = await testCopy(t, practice.settings, { now })
  await copy.server.grantNotes()
  await copy.run()
  await copy.run()
  assert.equal(copy.visible('1', 'treatments').get('1')?.note, null)
  assert.equal(copy.visible('1', 'appointments').get('1')?.note, 'Noted visit')
  const { findings } = await openDentalConnector(practice.settings, 'UTC', now).check(noZones, new Set(['treatments']))
  assert.match(
    findings.find(({ outcome }) => outcome === 'wrong')?.what ?? '',
    /^Notes of treatments are not read: The database ".*" has no table procnote\.$/,
  )
})

async function someNotes() {
  const practice = await testFamily(mariaDb)
  await practice.update('appointment', 'AptNum', 1, { Note: 'Noted visit' })
  await practice.update('adjustment', 'AdjNum', 1, { AdjNote: 'Noted adjustment' })
  await practice.update('payment', 'PayNum', 1, { PayNote: 'Noted payment' })
  await practice.update('refattach', 'RefAttachNum', 1, { Note: 'Noted referral' })
  await practice.insert(
    'procnote',
    note(10, 1, '2026-10-01 09:00:00', 'Noted: first'),
    note(12, 1, '2026-10-01 09:05:00', 'Noted: older, though its key is higher'),
    note(11, 1, '2026-10-02 09:00:00', 'Noted: newest'),
    note(13, 2, '2026-10-01 09:00:00', 'Noted: to be emptied'),
    note(14, 2, '2026-10-01 09:00:00', ''),
  )
  await practice.ageAll()
  return practice
}

function note(key: number, treatment: number, at: string, text: string) {
  return { ProcNoteNum: key, ProcNum: treatment, PatNum: 1, EntryDateTime: at, Note: text }
}
