import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../platform/errors/problem.ts'
import { createProofAccess, findProof } from './domain-proof.ts'
import { someWebsite } from './testing/test-website.ts'

const token = 'bridgework-verification=abc'

test('a website is proved by its DNS record or by its file, and each failure says what to do', async (t) => {
  const { access, records, site, answerWith, origin } = await someWebsite(t)
  const failures = async () => {
    const proof = await findProof(access, 'vendor.example', token)
    assert.equal(proof.method, null)
    return proof.method === null ? [proof.dnsFailure, proof.fileFailure] : assert.fail()
  }
  const proved = async () => (await findProof(access, 'vendor.example', token)).method

  assert.match((await failures())[0] ?? '', /_bridgework\.vendor\.example has no TXT record/)
  assert.match((await failures())[1] ?? '', /answered with status 404\. Put the file there/)
  records.set('_bridgework.vendor.example', 'bridgework-verification=of-another')
  answerWith('secret of somebody else')
  const [dns = '', file = ''] = await failures()
  assert.match(dns, /another value/)
  assert.match(file, /another text/)
  assert.doesNotMatch(`${dns}${file}`, /of-another|secret of/, 'what was read is not repeated')
  records.set('_bridgework.vendor.example', 'silent')
  answerWith('', 302, { location: `${origin}/elsewhere` })
  assert.match((await failures())[0] ?? '', /did not answer/)
  site.asked.length = 0
  assert.match((await failures())[1] ?? '', /redirected/)
  assert.deepEqual(site.asked, ['/.well-known/bridgework-verification.txt'], 'the redirect is not followed')
  answerWith('x'.repeat(2 * 1024 * 1024))
  assert.match((await failures())[1] ?? '', /too large/)
  site.answer = (_, response) => void response.destroy()
  assert.match((await failures())[1] ?? '', /connection failed/)

  answerWith(`${token}\n`)
  assert.equal(await proved(), 'file')
  records.set('_bridgework.vendor.example', token)
  assert.equal(await proved(), 'dns')
})

test('X06: a check ends whatever the website does, says why, and is no failure where the server stops', async (t) => {
  const stopping = new AbortController()
  const { access, site, records } = await someWebsite(t, { timeoutMs: 200, stopping: stopping.signal })
  const fileFailure = async () => {
    const proof = await findProof(access, 'vendor.example', token)
    return proof.method === null ? proof.fileFailure : assert.fail()
  }
  site.answer = (_, { socket }) => void socket?.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  assert.match(await fileFailure(), /not one of a website/)
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
  site.answer = (_, { socket }) => void socket?.write(upgrade)
  assert.match(await fileFailure(), /not one of a website/)
  site.answer = () => {}
  assert.match(await fileFailure(), /no answer within 10 seconds/)

  records.set('_bridgework.vendor.example', 'another')
  site.answer = () => stopping.abort(new Problem('unavailable'))
  await assert.rejects(findProof(access, 'vendor.example', token), { code: 'unavailable' })
})

test('X06: each way in which a file cannot be read has its sentence', async (t) => {
  const { access, answerWith } = await someWebsite(t)
  const fileFailure = async (fetch = access.fetch) => {
    const proof = await findProof({ ...access, fetch }, 'vendor.example', token)
    return proof.method === null ? proof.fileFailure : assert.fail()
  }
  for (const [status, expected] of [
    [299, /answered with status 299/],
    [300, /is redirected/],
    [399, /is redirected/],
    [400, /answered with status 400/],
  ] as const) {
    answerWith('', status)
    assert.match(await fileFailure(), expected)
  }
  const reasons = {
    ENOTFOUND: /its name has no address/,
    EAI_AGAIN: /its name has no address/,
    ECONNREFUSED: /the connection was refused/,
    CERT_HAS_EXPIRED: /its certificate is not valid/,
    ERR_TLS_CERT_ALTNAME_INVALID: /its certificate is not valid/,
    HPE_INVALID_CONSTANT: /not one of a website/,
    ECONNRESET: /the connection failed/,
  }
  for (const [code, expected] of Object.entries(reasons)) {
    assert.match(await fileFailure(() => Promise.reject(Object.assign(new Error('x'), { code }))), expected)
  }
})

test('W20: a check of a website reaches nothing of the operator’s own network, by no name and no address', async (t) => {
  const { origin, site, records } = await someWebsite(t)
  const access = createProofAccess()
  const port = new URL(origin).port
  const own = { ...access, resolveTxt: async () => [...records.values()].map((each) => [each]) }
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]', '169.254.169.254', '10.0.0.1']) {
    const proof = await findProof(own, host, token)
    assert.ok(proof.method === null && /not at a public address/.test(proof.fileFailure), host)
  }
  const plain = await findProof({ ...own, originOf: () => origin }, 'vendor.example', token)
  assert.ok(plain.method === null && /not at a public address/.test(plain.fileFailure))
  assert.deepEqual(site.asked, [])
})
