import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { statusPage } from './page.ts'
import { startStatusServer } from './server.ts'
import { createStatus } from './status.ts'

test('the status says what the agent does, what it sent last and what went wrong last', () => {
  let nowMs = Date.parse('2026-03-04T10:00:00Z')
  const { report, read } = createStatus({ version: '1.2.3', nowMs: () => nowMs })
  assert.deepEqual([read().state, read().lastUpload, read().lastError], ['starting', null, null])

  report({ event: 'agent.started', server: 'https://api.example.com', connector: 'open-dental', intervalSeconds: 60 })
  report({ event: 'cycle.began' })
  const reading = { dataset: 'patients', rows: 500, rowsTotal: 1000, startedAtMs: nowMs - 1000, pausedMs: 0 } as const
  report({ event: 'dataset.progress', ...reading, uploaded: 400 })
  assert.equal(read().state, 'working')
  assert.match(read().doing ?? '', /^patients {2}500 of 1,000 read · 400 sent/)
  const uploadedAt = new Date(nowMs).toISOString()
  nowMs += 60_000
  // Nothing more was sent: the last upload is the earlier one.
  report({ event: 'dataset.progress', ...reading, rows: 600, uploaded: 400 })
  assert.deepEqual(read().lastUpload, { at: uploadedAt, dataset: 'patients', records: 400 })
  report({ event: 'cycle.failed', because: 'unreachable', what: 'The database is away.', todo: 'Start it.' })
  assert.deepEqual([read().state, read().doing], ['failing', null])
  assert.equal(read().lastError?.text, 'FAILED: The database is away. Start it.')

  report({ event: 'cycle.began' })
  report({ event: 'cycle.finished', durationMs: 1500, uploaded: 7, refused: 0 })
  assert.deepEqual([read().state, read().lastCycle?.records], ['up_to_date', 7])
  assert.equal(read().lastError?.text, 'FAILED: The database is away. Start it.', 'the last error stays in sight')
  for (let i = 0; i < 300; i++) report({ event: 'cycle.began' })
  assert.equal(read().log.length, 200)
})

test('the status page answers this computer alone, without a script and without other addresses', async (t) => {
  const { report, read } = createStatus({ version: '1.2.3', nowMs: () => 0 })
  const server = await startStatusServer(0, read)
  t.after(() => server.stop())
  const at = `http://127.0.0.1:${server.port}`
  report({ event: 'cycle.failed', because: 'unreachable', what: '<b>"it"</b>', todo: '' })

  const page = await fetch(at)
  const html = await page.text()
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/)
  assert.ok(html.includes('The last cycle did not succeed') && html.includes('version 1.2.3'))
  assert.ok(html.includes('&#60;b&#62;&#34;it') && !html.includes('<b>') && !html.includes('<script'))
  assert.deepEqual(await (await fetch(`${at}/status.json`)).json(), JSON.parse(JSON.stringify(read())))
  assert.equal((await fetch(`${at}/other`)).status, 404)
  assert.equal((await fetch(at, { method: 'POST' })).status, 405)
  // A name of somebody else's that was made to lead to this computer.
  assert.deepEqual(await statusWithHost(server.port, 'evil.example:4780'), [403, 'Only for this computer.\n'])
  assert.equal((await statusWithHost(server.port, `localhost:${server.port}`))[0], 200)
  await assert.rejects(startStatusServer(server.port, read), { code: 'EADDRINUSE' })
})

function statusWithHost(port: number, host: string): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', headers: { host } }, async (answer) => {
      resolve([answer.statusCode, await text(answer)])
    })
    asked.on('error', reject).end()
  })
}

test('the status page says of every state what it means', () => {
  const { report, read } = createStatus({ version: '1.2.3', nowMs: () => Date.parse('2026-03-04T10:00:00Z') })
  const has = (...facts: string[]) => {
    const page = statusPage(read())
    for (const fact of facts) assert.ok(page.includes(fact), `${fact}: ${page}`)
  }
  has('<dt>State</dt><dd>Starting</dd>', '<dt>Server</dt><dd>not known yet</dd>')
  has('<dt>Last complete cycle</dt><dd>none since the start</dd>', '<dt>Last error</dt><dd>none since the start</dd>')
  has('<dt>Last upload</dt><dd>none since the start: nothing had changed</dd>')
  report({ event: 'cycle.began' })
  has('<dd>Working: a cycle is running</dd>')
  report({ event: 'dataset.finished', dataset: 'patients', rows: 9, uploaded: 7, durationMs: 1000 })
  report({ event: 'cycle.finished', durationMs: 1500, uploaded: 7, refused: 0 })
  has('<dd>Up to date: waiting for the next cycle</dd>', ', 1.5 s, 7 records sent</dd>', ', 7 records of patients</dd>')
  report({ event: 'cycle.began' })
  const failure = { because: 'too_slow', table: null, column: null, what: 'What.', todo: 'Do.' } as const
  report({ event: 'dataset.failed', dataset: 'patients', ...failure })
  report({ event: 'cycle.finished', durationMs: 1500, uploaded: 7, refused: 0 })
  has(
    '<dd>Some datasets are not up to date. The agent tries again by itself</dd>',
    '<dt>Not read: patients</dt><dd>What. Do.</dd>',
  )
  report({ event: 'cycle.failed', because: 'unreachable', what: 'What.', todo: 'Do.' })
  has('<dd>The last cycle did not succeed. The agent tries again by itself</dd>')
  report({ event: 'agent.stopped' })
  has('<dd>Stopping</dd>')
})
