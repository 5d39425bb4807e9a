import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { createServer as createHttpServer } from 'node:http'
import { Agent } from 'node:https'
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AddressRefused, createOutgoing, type OutgoingOptions } from './outgoing.ts'
import { someNameServer } from './testing/test-name-server.ts'

const get = { method: 'GET', headers: {} }

test('X06, W20: an address that a customer entered reaches nothing but public addresses over https, however it is spelled', async (t) => {
  const world = await recorded(t)
  const addresses = [
    'http://vendor.example',
    'ftp://vendor.example',
    'file:///etc/passwd',
    'https://user:password@vendor.example',
    'https://user@vendor.example',
    ...['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '127.0.0.1.', '127.1', '2130706433', '0x7f000001'].map(
      https,
    ),
    ...['0177.0.0.1', '0x7f.0.0.1', '0', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]'].map(https),
    ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '2852039166', '100.64.0.1', '198.18.0.1'].map(
      https,
    ),
    ...['[::a9fe:a9fe]', '[::ffff:a9fe:a9fe]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001::1]'].map(https),
    ...['[fd00::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '１２７.０.０.１', '①②⑦.0.0.1'].map(https),
  ]
  for (const address of addresses) await assert.rejects(world.outgoing().fetch(address, get), AddressRefused, address)
  assert.deepEqual([world.resolved, world.connected], [[], []])
})

test('X06: a name is resolved once for each attempt, refused where one of its addresses is not public, and connected by what was found', async (t) => {
  const world = await recorded(t)
  const outgoing = world.outgoing()
  for (const answer of [
    ['127.0.0.1'],
    ['8.8.8.8', '127.0.0.1'],
    ['2606:4700::1111', '::a9fe:a9fe'],
    ['::ffff:10.0.0.1'],
  ]) {
    world.answers.push(answer)
    await assert.rejects(outgoing.fetch('https://vendor.example/path', get), AddressRefused, String(answer))
  }
  assert.deepEqual(world.connected, [])
  world.resolved.length = 0

  // Public at first, then this machine: each attempt looks anew, and once.
  world.answers.push(['8.8.8.8', '2606:4700::1111'], ['127.0.0.1'])
  assert.equal(await (await outgoing.fetch('https://vendor.example/path', get)).text(), 'GET vendor.example')
  await assert.rejects(outgoing.fetch('https://vendor.example/path', get), AddressRefused)

  assert.deepEqual(world.resolved, ['vendor.example', 'vendor.example'])
  assert.deepEqual(world.connected, [
    { addresses: ['8.8.8.8', '2606:4700::1111'], servername: 'vendor.example', port: '443' },
  ])
})

test('X06: a name server is asked for both kinds of addresses, and the name is refused by each of them', async (t) => {
  const { addresses, asked, address } = await someNameServer(t)
  const { outgoing, connected } = await recorded(t)
  const { fetch } = outgoing({ nameServers: [address], resolve: undefined, timeoutMs: 3_000 })
  addresses.set('six.example', ['8.8.8.8', '::a9fe:a9fe'])
  addresses.set('four.example', ['10.0.0.1', '2606:4700::1111'])
  for (const name of ['six', 'four']) await assert.rejects(fetch(`https://${name}.example`, get), AddressRefused)
  assert.equal(connected.length, 0)
  addresses.set('vendor.example', ['2606:4700::1111'])
  assert.equal((await fetch('https://vendor.example', get)).status, 200)
  assert.deepEqual(
    connected.map((each) => each.addresses),
    [['2606:4700::1111']],
  )
  assert.deepEqual(asked.filter((each) => each.startsWith('vendor')).sort(), ['vendor.example 1', 'vendor.example 28'])

  await assert.rejects(fetch('https://unknown.example', get), { code: 'ENOTFOUND' })
  addresses.set('empty.example', [])
  await assert.rejects(fetch('https://empty.example', get), { code: 'ENOTFOUND' })
  addresses.set('silent.example', 'silent')
  await assert.rejects(fetch('https://silent.example', get), { code: 'EAI_AGAIN' })
})

test('X06: TXT records are read, and the look-up of a silent name ends with its signal', async (t) => {
  const { texts, address } = await someNameServer(t)
  const { resolveTxt } = createOutgoing({ allowPrivate: false, nameServers: [address] })
  texts.set('vendor.example', 'a token')
  assert.deepEqual(await resolveTxt('vendor.example'), [['a token']])
  texts.set('silent.example', 'silent')
  await assert.rejects(resolveTxt('silent.example', AbortSignal.timeout(50)), { name: 'TimeoutError' })
})

test('X06: a public address without a name is connected as it is', async (t) => {
  const world = await recorded(t)
  assert.equal((await world.outgoing().fetch('https://8.8.8.8:8443', get)).status, 200)
  assert.deepEqual(world.resolved, [])
  assert.deepEqual(world.connected, [{ addresses: ['8.8.8.8'], servername: '', port: '8443' }])
})

test('the connection of Node’s own takes the addresses that were found and looks nothing up', async (t) => {
  const { url } = await someServer(t, (socket) => socket.end(ok('here')))
  const outgoing = createOutgoing({ allowPrivate: true, resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const answer = await outgoing.fetch(url.replace('127.0.0.1', 'no-such-name.invalid'), get)
  assert.equal(await answer.text(), 'here')
})

test('a request is sent with its method, headers and body, and no redirect is followed', async (t) => {
  const asked: string[] = []
  const server = createHttpServer(async (request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/redirect') return response.writeHead(302, { location: '/elsewhere' }).end()
    let body = ''
    for await (const chunk of request) body += chunk
    response.end(`${request.method} ${request.headers['x-a']} ${body}`)
  })
  const url = await listen(t, server)
  const outgoing = createOutgoing({ allowPrivate: true })
  assert.equal((await outgoing.fetch(`${url}/redirect`, get)).status, 302)
  const post = { method: 'POST', headers: { 'x-a': 'b' }, body: new URLSearchParams({ a: '1' }) }
  assert.equal(await (await outgoing.fetch(`${url}/echo`, post)).text(), 'POST b a=1')
  assert.deepEqual(asked, ['/redirect', '/echo'])
})

const peers: Record<string, { peer: (socket: Socket) => unknown; error: object; isSlow?: true }> = {
  '101 with the headers of an upgrade': {
    peer: (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    error: { code: 'ANSWER_UNUSABLE' },
  },
  '101 without': {
    peer: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    error: { code: 'ANSWER_UNUSABLE' },
  },
  '103 without end': {
    peer: (socket) => forEver(socket, 1, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5)),
    error: { code: 'ANSWER_UNUSABLE' },
  },
  'a status that HTTP does not have': {
    peer: (socket) => socket.end('HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n'),
    error: { code: 'ANSWER_UNUSABLE' },
  },
  'the first status that HTTP does not have': {
    peer: (socket) => socket.end('HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'),
    error: { code: 'ANSWER_UNUSABLE' },
  },
  'the end before a header': { peer: (socket) => socket.end(), error: { code: 'ECONNRESET' } },
  'the end in the middle of the headers': {
    peer: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
    error: { code: /^(ECONNRESET|HPE_)/ },
  },
  'the end in the middle of the body': {
    peer: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    error: { code: 'ECONNRESET' },
  },
  'a reset before a header': { peer: (socket) => socket.resetAndDestroy(), error: { code: 'ECONNRESET' } },
  'a reset in the middle of the body': {
    peer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
      setTimeout(() => socket.resetAndDestroy(), 20)
    },
    error: { code: 'ECONNRESET' },
  },
  'something else than HTTP': { peer: (socket) => socket.write('SSH-2.0-x\r\n'), error: { code: /^HPE_/ } },
  'a header without end': {
    peer: (socket) => forEver(socket, 1, `x-${'a'.repeat(4000)}: b\r\n`, 'HTTP/1.1 200 OK\r\n'),
    error: { code: /^HPE_HEADER_OVERFLOW|ECONNRESET/ },
  },
  'a body of more than 128 KiB': {
    peer: (socket) => forEver(socket, 1, 'x'.repeat(16_384), 'HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n'),
    error: { code: 'ANSWER_TOO_LARGE' },
  },
  'a body of more than 128 KiB in chunks': {
    peer: (socket) =>
      forEver(socket, 1, `4000\r\n${'x'.repeat(16_384)}\r\n`, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'),
    error: { code: 'ANSWER_TOO_LARGE' },
  },
  nothing: { peer: () => {}, error: { name: 'TimeoutError' }, isSlow: true },
  'the headers, a byte at a time': {
    peer: (socket) => forEver(socket, 20, 'a', 'HTTP/1.1 200 OK\r\nX-A: '),
    error: { name: 'TimeoutError' },
    isSlow: true,
  },
  'the body, a byte at a time': {
    peer: (socket) => forEver(socket, 20, 'x', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'),
    error: { name: 'TimeoutError' },
    isSlow: true,
  },
  'half of a body, then nothing': {
    peer: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'),
    error: { name: 'TimeoutError' },
    isSlow: true,
  },
}

for (const [what, { peer, error, isSlow }] of Object.entries(peers)) {
  test(`X06: a server that answers ${what} ends the call, and its socket is closed`, async (t) => {
    const { url, allClosed } = await someServer(t, peer)
    const outgoing = createOutgoing({ allowPrivate: true, timeoutMs: isSlow ? 200 : 5_000 })
    await assert.rejects(outgoing.fetch(url, get), error)
    await allClosed()
  })

  if (isSlow) {
    test(`X06: a signal ends the call to a server that answers ${what}, and so does the server’s own end`, async (t) => {
      const { url, allClosed } = await someServer(t, peer)
      const reason = new Error('the server stops')
      for (const way of ['signal', 'stopping'] as const) {
        const ending = new AbortController()
        const outgoing = createOutgoing({ allowPrivate: true, ...(way === 'stopping' && { stopping: ending.signal }) })
        const call = outgoing.fetch(url, { ...get, ...(way === 'signal' && { signal: ending.signal }) })
        setTimeout(() => ending.abort(reason), 50)
        await assert.rejects(call, reason)
        await assert.rejects(outgoing.fetch(url, { ...get, signal: ending.signal }), reason, 'already ended')
      }
      await allClosed()
    })
  }
}

test('an answer that has no body by its status is taken without one', async (t) => {
  for (const status of [204, 205, 304]) {
    const { url } = await someServer(t, (socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`))
    const answer = await createOutgoing({ allowPrivate: true }).fetch(url, get)
    assert.deepEqual([answer.status, await answer.text()], [status, ''])
  }
})

test('X06: ten interim answers are skipped, and one more is refused', async (t) => {
  for (const [count, isTaken] of [
    [10, true],
    [11, false],
  ] as const) {
    const { url } = await someServer(t, (socket) => {
      socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count)}${ok('here')}`)
    })
    const call = createOutgoing({ allowPrivate: true }).fetch(url, get)
    if (isTaken) assert.equal(await (await call).text(), 'here')
    else await assert.rejects(call, { code: 'ANSWER_UNUSABLE' })
  }
})

test('X06: 128 KiB are read whole', async (t) => {
  const { url } = await someServer(t, (socket) => socket.end(ok('x'.repeat(128 * 1024))))
  const answer = await createOutgoing({ allowPrivate: true }).fetch(url, get)
  assert.equal((await answer.text()).length, 128 * 1024)
})

test('X06: a name server that is silent ends with the time and with the signal, and nothing is connected after it', async (t) => {
  const world = await recorded(t)
  const late = Promise.withResolvers<LookupAddress[]>()
  const outgoing = world.outgoing({ timeoutMs: 50, resolve: () => late.promise })
  await assert.rejects(outgoing.fetch('https://vendor.example', get), { name: 'TimeoutError' })
  const signal = AbortSignal.timeout(10)
  await assert.rejects(outgoing.fetch('https://vendor.example', { ...get, signal }), { name: 'TimeoutError' })
  late.resolve([{ address: '8.8.8.8', family: 4 }])
  await sleep(20)
  assert.deepEqual(world.connected, [])
})

test('X06: a call whose signal has ended before asks no name server', async (t) => {
  const { outgoing, resolved } = await recorded(t)
  const init = { ...get, signal: AbortSignal.abort(new Error('over')) }
  await assert.rejects(outgoing().fetch('https://vendor.example', init), /over/)
  assert.deepEqual(resolved, [])
})

test('X06: a server that completes no TLS handshake ends with the time', async (t) => {
  const { url, allClosed } = await someServer(t, () => {})
  const outgoing = createOutgoing({ allowPrivate: true, timeoutMs: 100 })
  await assert.rejects(outgoing.fetch(url.replace('http:', 'https:'), get), { name: 'TimeoutError' })
  await allClosed()
})

/** A client whose connections go to a server of the test, whatever address they were to have, and what it asked and connected. */
async function recorded(t: TestContext) {
  const answers: string[][] = []
  const resolved: string[] = []
  const connected: { addresses: string[]; servername: string; port: string }[] = []
  const { url } = await someServer(t, (socket, head) => {
    socket.end(ok(`${head.split(' ')[0]} ${/host: (\S+)/i.exec(head)?.[1]}`))
  })
  const agent = new Agent()
  agent.createConnection = ({ host: given, port, servername = '', lookup }) => {
    const host = given ?? ''
    const record = (addresses: string[]) => void connected.push({ addresses, servername, port: String(port) })
    if (isIP(host) !== 0) record([host])
    else
      lookup?.(host, { all: true }, (_error, found) => record((found as LookupAddress[]).map((each) => each.address)))
    // Plain, for the test has no certificate of that name.
    return connect(Number(new URL(url).port), '127.0.0.1')
  }
  const outgoing = (more: Partial<OutgoingOptions> = {}) =>
    createOutgoing({
      allowPrivate: false,
      resolve: async (hostname) => {
        resolved.push(hostname)
        return (answers.shift() ?? []).map((address) => ({ address, family: isIP(address) }))
      },
      agent,
      ...more,
    })
  return { outgoing, answers, resolved, connected }
}

/** A server on loopback that does this with a socket once a request's head has arrived. `allClosed`: all its sockets are, within a second. */
async function someServer(t: TestContext, peer: (socket: Socket, head: string) => unknown) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (head) => peer(socket, head.toString('latin1')))
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const allClosed = async () => {
    for (const deadline = Date.now() + 1_000; sockets.size > 0 && Date.now() < deadline; ) await sleep(10)
    assert.equal(sockets.size, 0, 'sockets are left')
  }
  return { url: await listen(t, server), allClosed }
}

async function listen(t: TestContext, server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function forEver(socket: Socket, everyMs: number, what: string, begin = '') {
  socket.write(begin)
  const timer = setInterval(() => socket.write(what), everyMs)
  socket.on('close', () => clearInterval(timer))
}

function ok(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function https(host: string): string {
  return `https://${host}`
}
