import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
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
  assert.equal(await statusWithHost(server.port, 'evil.example:4780'), 403)
  assert.equal(await statusWithHost(server.port, `localhost:${server.port}`), 200)
  await assert.rejects(startStatusServer(server.port, read), { code: 'EADDRINUSE' })
})

function statusWithHost(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', reject).end()
  })
}
