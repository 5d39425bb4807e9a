import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { dropMonth } from '../../../modules/chain/drop-month.ts'
import { changeSealKey } from '../../../modules/chain/key-change.ts'
import { type SealKey, sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { findSealMail, mailSeals, setSealMail } from '../../../modules/chain/seal-mail.ts'
import { sealOnce } from '../../../modules/chain/sealer.ts'
import { deriveKeys } from '../../../modules/credentials/secret.ts'
import { makeMonthsBetween } from '../../../modules/disclosure/testing/test-months.ts'
import { createMailDelivery } from '../../../modules/mail/delivery.ts'
import { createSmtp } from '../../../modules/mail/smtp.ts'
import { startSmtpServer } from '../../../modules/mail/testing/test-smtp-server.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { somePortal } from '../testing/test-portal.ts'

const verifier = join(import.meta.dirname, '../../../../../portal/public/verify-disclosures.mjs')

/** A practice of two locations whose disclosures of three days are sealed, another practice, and the stand-alone verifier. */
async function somePractice(t: TestContext, year = 2026) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const second = await world.addLocation({ organizationId: location.organizationId })
  const other = await world.addLocation()
  const vendor = await world.addVendor([location, second, other])
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const key = sealKeyOf(world.secretKey)
  const path = `/organizations/${location.organizationId}`
  const disclose = async (rows: number, firstAt: string) => {
    await makeMonthsBetween(world.ownerPool, new Date(firstAt), new Date(Date.parse(firstAt) + rows * 1_000))
    await world.ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
       select $2::timestamptz + n * interval '1 second', $3, (select id from key_pair where company_id = $3), ($4::bigint[])[1 + n % 3], 'patients',
              jsonb_build_object('patient_id', 'secret-canary'), 2, array[n, n + 1], 'r' || n, '203.0.113.9'
         from generate_series(1, $1::integer) n`,
      [rows, firstAt, vendor.companyId, [location.id, second.id, other.id]],
    )
  }
  const seal = (at: string) => sealOnce({ pool: world.pool, key: async () => key, now: () => new Date(at) })
  for (const day of [1, 2, 3]) {
    await disclose(9, `${year}-03-0${day}T10:00:00Z`)
    await seal(`${year}-03-0${day}T10:01:00Z`)
  }

  const folder = mkdtempSync(join(tmpdir(), 'bridgework-export-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const save = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const verify = async (...args: string[]) =>
    await promisify(execFile)(process.execPath, [verifier, '--public-key', key.text, ...args]).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        text: error.stdout + error.stderr,
      }),
    )
  const download = async (query = '') => {
    const { status, text } = await owner.get(`${path}/disclosures.ndjson${query}`)
    assert.equal(status, 200, text)
    return text
  }
  return { ...world, location, other, owner, key, path, disclose, seal, save, verify, download }
}

test('F21: a practice checks its own export with a program that shares nothing with the service', async (t) => {
  const practice = await somePractice(t)
  await practice.disclose(9, '2026-03-04T10:00:00Z')
  const text = await practice.download()
  assert.doesNotMatch(text, /secret-canary/, 'names of filters, never their values')
  assert.deepEqual(await practice.verify(practice.save('all.ndjson', text)), {
    code: 0,
    text: [
      'Checked 18 disclosures. The last seal was made at 2026-03-03T10:01:00.000000Z.',
      '6 disclosures are newer: they get their seal when the day (UTC) has ended.',
      'Nothing was changed, removed, added or moved since it was sealed.\n',
    ].join('\n'),
  })
  const part = await practice.download('?from=2026-03-03')
  const { code, text: said } = await practice.verify(practice.save('part.ndjson', part))
  assert.deepEqual([code, said.split('.')[0]], [0, 'Checked 6 disclosures'], 'from the last seal before that day')
  const { body } = await practice.owner.get(`${practice.path}/seal_key`)
  assert.deepEqual(
    [body.public_key, body.sealed_at, body.entries],
    [practice.key.text, '2026-03-03T10:01:00.000000Z', 18],
  )
})

test('F21: an export has more disclosures than are read at once, sealed and not, each once and in order', async (t) => {
  const practice = await somePractice(t)
  await practice.disclose(1_800, '2026-03-04T10:00:00Z')
  await practice.seal('2026-03-05T00:01:00Z')
  await practice.disclose(1_800, '2026-03-06T10:00:00Z')

  const text = await practice.download()

  const ids = [...text.matchAll(/"type":"disclosure","id":"(\d+)"/g)].map(([, id]) => Number(id))
  const { code, text: said } = await practice.verify(practice.save('many.ndjson', text))
  assert.deepEqual([code, said.split('.')[0]], [0, 'Checked 1218 disclosures'])
  assert.equal(ids.length, 2_418)
  assert.ok(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id)))
})

test('F21: the program finds what was changed in an export, and says how a file or a key is wrong', async (t) => {
  const practice = await somePractice(t)
  const lines = (await practice.download()).trimEnd().split('\n')
  const [begin = '', ...rest] = lines
  const rows = rest.filter((line) => line.includes('"type":"disclosure"'))
  const [first = '', second = ''] = rows
  const without = (line: string) => lines.filter((each) => each !== line)
  const seals = rest.filter((line) => line.includes('"type":"seal"'))
  const tampered: Record<string, [string[], RegExp]> = {
    edit: [
      lines.map((line) => (line === second ? line.replace('"records":"2"', '"records":"1"') : line)),
      /are not those/,
    ],
    removal: [without(first), /are not those/],
    'removal with its seal': [without(seals[0] ?? '').filter((line) => line !== first), /are not those/],
    addition: [[begin, first, ...rest], /wrong place/],
    exchange: [[begin, second, first, ...rest.slice(2)], /wrong place/],
    'a seal of another moment': [
      lines.map((line) => (line === seals[0] ? line.replace('03-02T', '03-01T') : line)),
      /signature/,
    ],
    cut: [lines.slice(0, -1), /cut off/],
  }
  for (const [name, [text, expected]] of Object.entries(tampered)) {
    const answer = await practice.verify(practice.save('tampered.ndjson', `${text.join('\n')}\n`))
    assert.equal(answer.code, 3, `${name}: ${answer.text}`)
    assert.match(answer.text, expected, name)
  }
  const path = practice.save('good.ndjson', `${lines.join('\n')}\n`)
  const strangers = Array.from({ length: 256 }, (_, n) => sealKeyOf({ sealSeed: Buffer.alloc(32, n) }).text)
  for (const stranger of [strangers[7], strangers.find((text) => text.startsWith('-'))]) {
    const answer = await practice.verify(path, '--public-key', stranger ?? assert.fail('no key begins with a dash'))
    assert.match(answer.text, /names another public key/)
  }
  assert.equal((await practice.verify()).code, 2)
  assert.equal((await practice.verify(practice.save('no.ndjson', 'hello\n'))).code, 1)
})

test('F21: an export that was kept shows that the past was written again, though every signature is right', async (t) => {
  const practice = await somePractice(t)
  const kept = practice.save('kept.ndjson', await practice.download())
  await practice.disclose(3, '2026-03-04T10:00:00Z')
  await practice.seal('2026-03-05T00:01:00Z')
  const good = practice.save('new.ndjson', await practice.download())
  assert.equal((await practice.verify(good, '--earlier', kept)).code, 0)

  await practice.ownerPool.query('delete from disclosure where id = 1; truncate seal, practice_seal, practice_head')
  await practice.seal('2026-03-05T10:00:00Z')
  await practice.disclose(3, '2026-03-05T11:00:00Z')
  await practice.seal('2026-03-06T00:01:00Z')
  const rewritten = practice.save('rewritten.ndjson', await practice.download())
  assert.equal((await practice.verify(rewritten)).code, 0, 'alone it says nothing')
  const answer = await practice.verify(rewritten, '--earlier', kept)
  assert.equal(answer.code, 3, answer.text)
})

test('F21: after a rotation of the key an export verifies with the key of before and with the new one', async (t) => {
  const practice = await somePractice(t)
  const { secretKey, key: before } = practice
  const kept = practice.save('kept.ndjson', await practice.download())
  const next = deriveKeys(Buffer.alloc(32, 7))
  const after = sealKeyOf(next)
  await withTransaction(practice.pool, (client) =>
    changeSealKey(client, before, after, new Date('2026-03-04T00:00:00Z')),
  )
  secretKey.adopt([...secretKey.all(), next], next.check)
  await practice.disclose(9, '2026-03-04T10:00:00Z')
  const seal = (by: SealKey, at: string) =>
    sealOnce({ pool: practice.pool, key: async () => by, now: () => new Date(at) })
  await seal(after, '2026-03-05T10:00:00Z')

  const text = await practice.download()
  const path = practice.save('rotated.ndjson', text)
  for (const { text: key } of [before, after]) {
    const answer = await practice.verify(path, '--public-key', key, '--earlier', kept)
    assert.equal(answer.code, 0, answer.text)
    assert.match(answer.text, /^Checked 24 disclosures/)
  }
  const [begin = '', ...rest] = text.split('\n')
  const { key_changes, ...others } = JSON.parse(begin)
  const say = async (changes: object[]) => {
    const lines = [JSON.stringify({ ...others, key_changes: changes }), ...rest]
    return (await practice.verify(practice.save('forged.ndjson', lines.join('\n')))).text
  }
  assert.match(await say([]), /no signed change leads from one to the other/)
  assert.match(await say([{ ...key_changes[0], last_seal: '1' }]), /is not signed with both keys/)

  // What a thief of the earlier key signs after the change is found, also where every signature is right.
  await practice.disclose(9, '2026-03-06T10:00:00Z')
  await seal(before, '2026-03-07T10:00:00Z')
  const forged = await practice.verify(practice.save('late.ndjson', await practice.download()))
  assert.match(forged.text, /was replaced at 2026-03-04/)
  assert.match(forged.text, /a key that was replaced before/)
})

test('F29: an export says what was dropped, and the program checks what is left, in an export of all and of a part', async (t) => {
  const practice = await somePractice(t, 2019)
  const kept = practice.save('kept.ndjson', await practice.download())
  await practice.disclose(9, '2019-03-31T23:59:55Z')
  await practice.disclose(3, '2019-04-01T10:00:00Z')
  await practice.seal('2019-04-01T10:01:00Z')
  await practice.disclose(3, '2026-04-02T10:00:00Z')
  await practice.seal('2026-04-02T10:01:00Z')
  const owner = await practice.ownerPool.connect()
  const { key } = practice
  await dropMonth(owner, {
    month: '2019-03',
    key,
    now: new Date('2026-04-03'),
    record: async () => {},
    onProgress: () => {},
  })
  owner.release()

  const text = await practice.download()
  const { code, text: said } = await practice.verify(practice.save('all.ndjson', text), '--earlier', kept)
  assert.deepEqual(said.split('\n'), [
    'Checked 7 disclosures. The last seal was made at 2026-04-02T10:01:00.000000Z.',
    'The disclosures of 2019-03 and before were dropped at 2026-04-03T00:00:00.000000Z: the first 21 of this practice.',
    'Nothing was changed, removed, added or moved since it was sealed.',
    '',
  ])
  assert.equal(code, 0)
  const part = await practice.verify(practice.save('part.ndjson', await practice.download('?from=2026-04-01')))
  assert.deepEqual([part.code, part.text.split('.')[0]], [0, 'Checked 2 disclosures'])
  const lines = text.trimEnd().split('\n')
  const entry = lines.findLastIndex((line) => line.startsWith('{"type":"disclosure"'))
  const { id } = JSON.parse(lines[entry] ?? '')
  const tampered: [string[], RegExp][] = [
    [lines.map((line) => line.replace('"month":"2019-03"', '"month":"2019-02"')), /signature of what was dropped/],
    [lines.map((line) => line.replace(/"sha256":"./, '"sha256":"x')), /not those that were sealed/],
    [lines.with(entry, JSON.stringify({ type: 'dropped', id, sha256: '' })), /no month that was dropped had it/],
  ]
  for (const [changed, expected] of tampered) {
    const answer = await practice.verify(practice.save('tampered.ndjson', `${changed.join('\n')}\n`))
    assert.deepEqual([answer.code, expected.test(answer.text)], [3, true], answer.text)
  }
})

test('F30: the owner gets each new seal by mail when the practice wants it, and a rewritten past shows by it', async (t) => {
  const practice = await somePractice(t)
  const { pool, key, owner, path } = practice
  const about = { key, publicUrl: 'https://b.example' }
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'Bridgework <portal@example.com>')
  t.after(close)
  let isDown = true
  const delivery = createMailDelivery({
    pool,
    log: () => {},
    send: (mail) => (isDown ? Promise.reject(new Error('down')) : send(mail)),
  })
  const deliver = async () => {
    const counts = await Promise.all([mailSeals(pool, about), mailSeals(pool, about)])
    await pool.query('update mail set next_attempt_at = clock_timestamp()')
    await delivery.deliverDue()
    return counts[0] + counts[1]
  }
  assert.equal(await deliver(), 0, 'off by default')

  const { body } = await owner.get(`${path}/seal_key`)
  assert.deepEqual([body.is_mailed, body.mailed_to], [false, owner.person.email])
  assert.equal((await owner.put(`${path}/seal_mail`, { is_mailed: true })).status, 200)
  assert.equal((await owner.get(`${path}/seal_key`)).body.is_mailed, true)
  assert.equal(await deliver(), 1, 'the newest seal at once')
  assert.equal(smtp.mails.length, 0)
  isDown = false
  assert.equal(await deliver(), 0, 'once')
  const [mail] = smtp.mails
  assert.deepEqual([smtp.mails.length, mail?.to], [1, [owner.person.email]])
  const { text, file } = partsOf(mail?.text ?? '')
  const { head, signature } = JSON.parse(file)
  for (const said of [
    head,
    signature,
    key.text,
    `https://b.example${path.replace('organizations', 'organization')}/disclosures,`,
  ])
    assert.ok(text.includes(said), said)
  const mailed = practice.save('seal.ndjson', file)

  await practice.disclose(3, '2026-03-04T10:00:00Z')
  await practice.seal('2026-03-05T00:01:00Z')
  const good = practice.save('good.ndjson', await practice.download())
  assert.equal((await practice.verify(good, '--earlier', mailed)).code, 0)
  assert.equal(await deliver(), 1)
  assert.equal(smtp.mails.length, 2)

  // The operator, who has the database and the key, removes a disclosure and seals everything again.
  await practice.ownerPool.query('delete from disclosure where id = 1; truncate seal, practice_seal, practice_head')
  await practice.seal('2026-03-05T10:00:00Z')
  await practice.disclose(9, '2026-03-05T11:00:00Z')
  await practice.seal('2026-03-06T00:01:00Z')
  const rewritten = practice.save('rewritten.ndjson', await practice.download())
  assert.equal((await practice.verify(rewritten)).code, 0, 'alone it says nothing')
  const found = await practice.verify(rewritten, '--earlier', mailed)
  assert.deepEqual([found.code, /the past was written again/.test(found.text)], [3, true], found.text)

  assert.equal((await owner.put(`${path}/seal_mail`, { is_mailed: false })).status, 200)
  assert.equal(await deliver(), 0)
  const { rows } = await pool.query(`select facts from audit_event where action = 'seal.mail' order by id`)
  assert.deepEqual(rows, [{ facts: { isOn: true } }, { facts: { isOn: false } }])
})

test('F30: a practice without an owner holds up no other’s mail, and its next owner gets the next seal', async (t) => {
  const practice = await somePractice(t)
  const { pool, key, owner, other, location } = practice
  const about = { key, publicUrl: 'https://b.example' }
  const { organizationId } = other
  const mailed = async () => {
    await mailSeals(pool, about)
    const { rows } = await pool.query<{ recipient: string }>('delete from mail returning recipient')
    return rows.map(({ recipient }) => recipient)
  }
  await mailed()
  await setSealMail(pool, organizationId, true)
  assert.deepEqual(await findSealMail(pool, organizationId), { isOn: true, recipient: null })

  assert.deepEqual(await mailed(), [])
  await setSealMail(pool, location.organizationId, true)
  assert.deepEqual(await mailed(), [owner.person.email])

  const next = await practice.signInAs({ organizationId }, 'owner')
  await practice.disclose(9, '2026-03-04T10:00:00Z')
  await practice.seal('2026-03-05T00:01:00Z')
  assert.deepEqual(await findSealMail(pool, organizationId), { isOn: true, recipient: next.person.email })
  assert.deepEqual((await mailed()).toSorted(), [owner.person.email, next.person.email].toSorted())
  await setSealMail(pool, organizationId, false)
  assert.equal((await findSealMail(pool, organizationId)).isOn, false)
})

/** The text of a mail with a file, and the file. */
function partsOf(mail: string): { text: string; file: string } {
  const [both = '', file = ''] = within(mail)
  const [text = ''] = within(both)
  assert.match(file, /Content-Disposition: attachment;\s+filename=seal-\d+-2026-03-03\.ndjson/)
  return { text: decoded(text), file: decoded(file) }
}

/** The parts of a multipart message, or of a part of one. */
function within(message: string): string[] {
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(message) ?? []
  return message.split(`--${boundary}`).slice(1)
}

function decoded(part: string): string {
  const at = part.search(/\r?\n\r?\n/)
  const [head, body] = [part.slice(0, at), part.slice(at).trim()]
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/quoted-printable/i.test(head)) return body
  return Buffer.from(
    body.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString()
}

test('W19: the disclosures of another practice are not exported', async (t) => {
  const practice = await somePractice(t)
  const foreign = await practice.addLocation()
  const stranger = await practice.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const member = await practice.signInAs({ organizationId: practice.location.organizationId }, 'member')
  for (const route of ['disclosures.ndjson', 'seal_key']) {
    assert.equal((await stranger.get(`${practice.path}/${route}`)).body.code, 'organization_unknown')
    assert.equal((await member.get(`${practice.path}/${route}`)).body.code, 'role_denied')
  }
})
