import assert from 'node:assert/strict'
import { connect, type SecureVersion } from 'node:tls'

/** The server gives this client a ticket, and takes it on the next connection without a full handshake. */
export async function assertResumesByTicket(port: number, version: SecureVersion, times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const first = await askOverTls(port, version)
    assert.equal(first.isResumed, false, `${version}: a connection without a ticket was resumed`)
    assert.ok(first.session, `${version}: no ticket came`)
    const second = await askOverTls(port, version, first.session)
    assert.equal(second.isResumed, true, `${version}: the ticket was not accepted`)
  }
}

/** One request on a connection of its own. In TLS 1.3 the ticket follows the handshake: the session is the last one that came before the end. */
export async function askOverTls(port: number, version: SecureVersion, session?: Buffer) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    rejectUnauthorized: false,
    minVersion: version,
    maxVersion: version,
    ...(session && { session }),
  })
  let latest: Buffer | undefined
  let isResumed = false
  let answer = ''
  socket.on('session', (given) => {
    latest = given
  })
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.once('secureConnect', () => {
    isResumed = socket.isSessionReused()
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  })
  await new Promise<void>((resolve, reject) => void socket.once('close', () => resolve()).once('error', reject))
  assert.match(answer, /^HTTP\/1\.1 200 /, `${version}: no answer`)
  return { isResumed, session: latest }
}
