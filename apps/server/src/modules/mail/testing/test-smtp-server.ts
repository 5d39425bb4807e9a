import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'

/** A mail server of the test's own on loopback, without TLS, which keeps what it takes. `refused`: an address that it knows no mailbox of. */
export async function startSmtpServer(t: TestContext, options: { refused?: string; host?: string } = {}) {
  const mails: { from: string; to: string[]; text: string }[] = []
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    // A client keeps its connection for a moment.
    closeTimeout: 100,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => {
      if (address === options.refused) done(Object.assign(new Error('No such mailbox'), { responseCode: 550 }))
      else done()
    },
    onData: (stream, session, done) => {
      const { mailFrom, rcptTo } = session.envelope
      text(stream).then((content) => {
        mails.push({ from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address), text: content })
        done()
      }, done)
    },
  })
  server.server.on('connection', () => {
    connections += 1
  })
  const host = options.host ?? '127.0.0.1'
  server.listen(0, host)
  await once(server.server, 'listening')
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  return { mails, connections: () => connections, url: `smtp://${host}:${port}` }
}
