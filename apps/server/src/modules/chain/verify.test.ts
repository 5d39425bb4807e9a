import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSecretKey } from '../credentials/secret.ts'
import { openPublishedSeals, publishSeals } from './published.ts'
import { sealKeyOf } from './seal-key.ts'
import { someChain } from './testing/test-chain.ts'

function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-seals-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Three days of disclosures and acts, sealed. */
async function someDays(t: TestContext) {
  const chain = await someChain(t)
  for (const day of ['2026-03-01', '2026-03-02', '2026-03-03']) {
    await chain.disclose(6, `${day}T10:00:00Z`)
    await chain.act(2)
    await chain.seal(`${day}T10:01:00Z`)
  }
  return chain
}

test('F21: a finding names the row and its seal', async (t) => {
  const chain = await someDays(t)
  await chain.ownerPool.query('update disclosure set records = records + 1 where id = 8')
  await chain.ownerPool.query('delete from audit_event where id = 3')
  const { found } = await chain.verify()
  assert.deepEqual(found.toSorted(), ['One act before 4 was removed.', 'The disclosure 8 was changed.'].toSorted())
})

test('F21: an entry with a time that is still to come is found, with a seal and without, and says nothing of those after it', async (t) => {
  const chain = await someDays(t)
  const now = new Date()
  const inAnHour = new Date(now.getTime() + 3_600_000).toISOString()
  const inFiveMinutes = new Date(now.getTime() + 300_000).toISOString()
  await chain.act(4)
  await chain.ownerPool.query('update audit_event set occurred_at = $1 where id in (7, 8)', [inAnHour])
  await chain.ownerPool.query('update audit_event set occurred_at = $1 where id = 9', [inFiveMinutes])
  await chain.disclose(1, inAnHour)
  const ahead = (name: string, id: number) =>
    new RegExp(
      `^The ${name} ${id} has the time ${inAnHour.slice(0, 13)}.*, which is still to come: its time was made up`,
    )
  const expected = [ahead('disclosure', 19), ahead('act', 7), ahead('act', 8)]
  const compare = async () => {
    const { found } = await chain.verify({ now })
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const pattern of expected)
      assert.ok(
        found.some((text) => pattern.test(text)),
        `${pattern}\n${found.join('\n')}`,
      )
  }
  await compare()
  await chain.seal(now.toISOString())
  await compare()
})

for (const [column, value] of [
  ['head', "sha256('x')"],
  ['entries', 'entries + 1'],
  ['unsealed', '0'],
  ['last_disclosure_id', 'last_disclosure_id - 1'],
  ['first_at', "first_at - interval '1 second'"],
  ['last_at', 'null'],
]) {
  test(`F21: a practice’s head whose ${column} was changed is found at once, before its next seal`, async (t) => {
    const chain = await someDays(t)
    await chain.disclose(6, '2026-03-03T11:00:00Z')
    await chain.seal('2026-03-03T11:01:00Z')
    const [practice] = chain.practices
    await chain.ownerPool.query(`update practice_head set ${column} = ${value} where organization_id = $1`, [
      practice?.organizationId,
    ])
    assert.deepEqual((await chain.verify()).found, [
      `The head of organization ${practice?.organizationId} does not fit the disclosures of its locations: it was changed.`,
    ])
  })
}

test('F21: a head that was removed or made up is found; heads that a seal moves on meanwhile are right', async (t) => {
  const chain = await someDays(t)
  const [here, there] = chain.practices
  await chain.ownerPool.query(
    `update practice_head set organization_id = organization_id + 1 where organization_id = $1`,
    [here?.organizationId],
  )
  assert.equal((await chain.verify()).found.length, 2)
  await chain.ownerPool.query(
    `update practice_head set organization_id = organization_id - 1 where organization_id <> $1`,
    [there?.organizationId],
  )
  let isSealed = false
  const { found, report } = await chain.verify(
    {
      onProgress: (done) => {
        if (done === 3) isSealed = true
      },
    },
    {
      // The seal of the next day is made just before the heads are read.
      query: (async (text: string, values: unknown[]) => {
        if (isSealed && text.includes('left join practice_head')) {
          isSealed = false
          await chain.disclose(6, '2026-03-04T10:00:00Z')
          await chain.seal('2026-03-04T10:01:00Z')
        }
        return chain.ownerPool.query(text, values)
      }) as typeof chain.ownerPool.query,
    },
  )
  assert.deepEqual([found, report.seals], [[], 4])
})

test('F21: a part can be checked: from a moment, until a moment', async (t) => {
  const chain = await someDays(t)
  const day = (number: number) => new Date(`2026-03-0${number}T00:00:00Z`)
  await chain.ownerPool.query('update disclosure set records = records + 1 where id = 8')
  const seals = async (from: Date | null, until: Date | null) => {
    const { report } = await chain.verify({ from, until })
    return [report.seals, report.disclosures, report.findings]
  }
  assert.deepEqual(await seals(day(3), null), [1, 6, 0])
  assert.deepEqual(await seals(null, day(2)), [1, 6, 0])
  assert.deepEqual(await seals(day(2), day(3)), [1, 6, 1])
  assert.deepEqual(await seals(day(4), null), [0, 0, 0])
})

test('F21: a chain that was signed again with another key is found by its signatures', async (t) => {
  const chain = await someDays(t)
  const stranger = sealKeyOf(createSecretKey(randomBytes(32)))
  await chain.ownerPool.query('delete from disclosure where id = 8; truncate seal, practice_seal, practice_head')
  await chain.seal('2026-03-04T10:00:00Z', stranger)
  const { found } = await chain.verify()
  assert.ok(
    found.some((text) => /signed with another key/.test(text)),
    found.join('\n'),
  )
})

test('F21: a chain that was signed again with the installation’s own key is found by the seals that were published', async (t) => {
  const chain = await someDays(t)
  const folder = someFolder(t)
  assert.equal(await publishSeals(chain.pool, folder), 3)
  await chain.ownerPool.query('delete from disclosure where id = 8; truncate seal, practice_seal, practice_head')
  await chain.seal('2026-03-04T10:00:00Z')
  assert.deepEqual((await chain.verify()).found, [], 'nothing in the database can show it')
  const { found } = await chain.verify({ published: await openPublishedSeals(folder) })
  assert.deepEqual(found, [
    'Seal 1 is not the one that was published: the past was written again.',
    'Seals up to 3 were published, and the last one here is 1: the end of the chain was removed.',
  ])
})

test('F21: every seal is published once, in a file for its day that is only added to, also after a line was cut off', async (t) => {
  const chain = await someDays(t)
  const folder = someFolder(t)
  assert.equal(await publishSeals(chain.pool, folder), 3)
  assert.equal(await publishSeals(chain.pool, folder), 0)
  const before = readFileSync(join(folder, 'seals-2026-03-03.ndjson'), 'utf8')
  appendFileSync(join(folder, 'seals-2026-03-03.ndjson'), '{"number":4,"te')
  await chain.act(1)
  await chain.seal('2026-03-03T10:02:00Z')
  assert.equal(await publishSeals(chain.pool, folder), 1)
  assert.deepEqual(readdirSync(folder), [
    'seals-2026-03-01.ndjson',
    'seals-2026-03-02.ndjson',
    'seals-2026-03-03.ndjson',
  ])
  assert.ok(readFileSync(join(folder, 'seals-2026-03-03.ndjson'), 'utf8').startsWith(before))
  assert.deepEqual((await chain.verify({ published: await openPublishedSeals(folder) })).found, [])
})
