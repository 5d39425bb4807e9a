import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { attemptsMax, createMailDelivery, type OutgoingMail, type SendMail } from './delivery.ts'
import { createMailFolder, listMailFolder } from './folder.ts'
import { queueMail } from './queue.ts'
import { createSmtp } from './smtp.ts'
import { startSmtpServer } from './testing/test-smtp-server.ts'

const mail = {
  recipient: 'olga@example.com',
  subject: 'Hello',
  text: 'A line.\n\nhttps://x.example/invitation#secret\n',
}

test('a mail server gets each mail once, from several processes, and then nothing of it is kept', async (t) => {
  const { pool, waiting } = await someMails(t, 20)
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'Bridgework <portal@example.com>')
  t.after(close)

  const [one, other] = [aDelivery(pool, send), aDelivery(pool, send)]
  const counts = await Promise.all([one.deliverDue(), other.deliverDue()])

  assert.equal(counts[0] + counts[1], 20)
  assert.equal(smtp.mails.length, 20)
  // A server that greets late does so once, and not for each mail.
  assert.ok(smtp.connections() <= 2, `${smtp.connections()} connections`)
  assert.equal(await waiting(), 0)
  const [first] = smtp.mails
  assert.deepEqual([first?.from, first?.to], ['portal@example.com', ['olga@example.com']])
  assert.match(first?.text ?? '', /^Subject: Hello$/m)
  assert.match(first?.text ?? '', /https:\/\/x\.example\/invitation#secret/)
})

test('a mail is text and HTML, no sentence is broken, and one that can be off says where', async (t) => {
  const { pool } = await createTestDatabase(t)
  const sentence = `${'Vendors with access to <one> location & more read it. '.repeat(6)}See https://x.example/a?b=c.`
  await queueMail(pool, { ...mail, text: `${sentence}\n\nBye.\n`, settingsUrl: 'https://x.example/settings' })
  await queueMail(pool, mail)
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'portal@example.com')
  t.after(close)

  assert.equal(await aDelivery(pool, send).deliverDue(), 2)

  const [first = '', second = ''] = smtp.mails.map(({ text }) => text)
  assert.match(first, /^Content-Type: multipart\/alternative;/m)
  assert.match(first, /^List-Unsubscribe: <https:\/\/x\.example\/settings>$/m)
  assert.doesNotMatch(second, /List-Unsubscribe/)
  const [plain, html] = partsOf(first)
  assert.equal(plain, `${sentence}\n\nBye.\n`)
  assert.match(html ?? '', /&lt;one&gt; location &amp; more read it\..*<a href="https:\/\/x\.example\/a\?b=c">/)
  assert.doesNotMatch(html ?? '', /<(img|script|link)/)
})

test('a mail server that is away gets the mail later, after pauses that grow, and at last the mail is kept as failing', async (t) => {
  const { pool, waiting } = await someMails(t, 1)
  const events: LogEvent[] = []
  const tried: OutgoingMail[] = []
  const delivery = aDelivery(
    pool,
    async (each) => {
      tried.push(each)
      throw Object.assign(new Error('connect ECONNREFUSED olga@example.com'), { code: 'ECONNREFUSED' })
    },
    events,
  )
  const pauses: number[] = []
  for (let round = 0; round < attemptsMax + 2; round += 1) {
    await delivery.deliverDue()
    const { rows } = await pool.query<{ pause: number }>(
      `select extract(epoch from next_attempt_at - clock_timestamp())::float as pause from mail`,
    )
    pauses.push(Math.round((rows[0]?.pause ?? 0) / 60))
    // Nothing is tried before its time; then its time has come.
    assert.equal(await delivery.deliverDue(), 0)
    await pool.query('update mail set next_attempt_at = clock_timestamp()')
  }
  assert.equal(tried.length, attemptsMax)
  assert.deepEqual(pauses.slice(0, 4), [1, 2, 4, 8])
  assert.equal(pauses[attemptsMax - 1], 6 * 60)
  assert.equal(await waiting(), 1)
  assert.deepEqual(new Set(tried.map(({ id }) => id)).size, 1)
  assert.deepEqual(events[0], { event: 'task.failed', task: 'mail', error: 'ECONNREFUSED' })
})

test('an address that the mail server refuses for good is not tried again, and the mails behind it go out', async (t) => {
  const { pool } = await someMails(t, 1, { ...mail, recipient: 'gone@example.com' })
  await queueMail(pool, mail)
  const smtp = await startSmtpServer(t, { refused: 'gone@example.com' })
  const { send, close } = createSmtp(smtp.url, 'portal@example.com')
  t.after(close)

  assert.equal(await aDelivery(pool, send).deliverDue(), 1)

  const { rows } = await pool.query('select recipient, attempts, last_error from mail')
  assert.deepEqual(rows, [{ recipient: 'gone@example.com', attempts: attemptsMax, last_error: 'EENVELOPE 550' }])
})

test('a process that dies while it hands a mail on leaves it to the next', async (t) => {
  const { pool } = await someMails(t, 1)
  const dying = aDelivery(pool, () => new Promise(() => {}))
  void dying.deliverDue()
  const isTaken = async () => (await pool.query('select from mail where attempts = 1')).rows.length === 1
  while (!(await isTaken()));
  const taken: OutgoingMail[] = []
  const next = aDelivery(pool, async (each) => void taken.push(each))
  assert.equal(await next.deliverDue(), 0)
  await pool.query(`update mail set next_attempt_at = next_attempt_at - interval '1 minute'`)
  assert.equal(await next.deliverDue(), 1)
  assert.equal(taken[0]?.recipient, mail.recipient)
})

test('an address is one recipient, whatever it looks like, and a name begins no header of its own', async (t) => {
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'portal@example.com')
  t.after(close)
  await send({ ...mail, id: '7', recipient: 'a,b@example.com', subject: 'You\r\nBcc: evil@example.com' })
  assert.equal(smtp.mails.length, 1)
  assert.equal(smtp.mails[0]?.to.length, 1)
  assert.doesNotMatch(smtp.mails[0]?.text ?? '', /^Bcc/m)
})

test('a mail server that is another machine must offer TLS, or gets nothing', async (t) => {
  const smtp = await startSmtpServer(t, { host: '127.0.0.2' })
  const { send, close } = createSmtp(smtp.url, 'portal@example.com')
  t.after(close)
  await assert.rejects(send({ ...mail, id: '1' }))
  assert.equal(smtp.mails.length, 0)
})

test('in the sandbox mails land in a folder, for its owner alone, and can be read again, the newest first', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bridgework-mail-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const times = [1000, 2000, 3000]
  const send = createMailFolder(join(dir, 'mail'), () => new Date(times.shift() ?? 0))
  await send({ ...mail, id: '1' })
  await send({ ...mail, id: '2', subject: 'You are invited\nX-Evil: to “Zähne”' })

  const attachment = { name: 'a.ndjson', text: '{"b":1}\n' }
  await send({ ...mail, id: '3', attachment })

  const [withFile, newest, oldest] = listMailFolder(join(dir, 'mail'), 50)
  assert.equal(withFile?.text, mail.text)

  assert.deepEqual(oldest, { sentAt: '1970-01-01T00:00:01.000Z', ...mail })
  assert.equal(newest?.subject, 'You are invited X-Evil: to “Zähne”')
  assert.equal(listMailFolder(join(dir, 'mail'), 1).length, 1)
  for (const name of readdirSync(join(dir, 'mail'))) {
    assert.match(name, /\.eml$/)
    assert.equal(statSync(join(dir, 'mail', name)).mode & 0o777, 0o600)
  }
})

/** The text and the HTML of a mail, decoded (RFC 2045 6.7). */
function partsOf(raw: string): string[] {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
  return raw
    .replaceAll('\r\n', '\n')
    .split(`--${boundary}`)
    .slice(1, 3)
    .map((part) => {
      assert.match(part, /^Content-Type: text\/(plain|html); charset=utf-8$/m)
      assert.match(part, /^Content-Transfer-Encoding: quoted-printable$/m)
      const body = part.slice(part.indexOf('\n\n') + 2).replace(/\n$/, '')
      return body
        .replaceAll('=\n', '')
        .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    })
}

async function someMails(t: TestContext, count: number, of = mail) {
  const { pool } = await createTestDatabase(t)
  for (let index = 0; index < count; index += 1) await queueMail(pool, of)
  const waiting = async () => (await pool.query('select from mail')).rows.length
  return { pool, waiting }
}

function aDelivery(
  pool: Parameters<typeof createMailDelivery>[0]['pool'],
  send: SendMail,
  events: LogEvent[] = [],
): ReturnType<typeof createMailDelivery> {
  return createMailDelivery({ pool, send, log: (event) => void events.push(event) })
}
