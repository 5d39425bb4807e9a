import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { freePort } from '../../../server/src/testing/test-port.ts'
import { temporaryFolder } from '../testing/test-agent.ts'
import { findDatabaseServer, findOpenDental } from './find-open-dental.ts'
import { middleTierSettings, openDentalSettings } from './testing/test-open-dental.ts'

test('finds the database of every installed Open Dental by its settings file', (t) => {
  const programs = temporaryFolder(t)
  const at = (folder: string, text: string) => {
    mkdirSync(join(programs, folder))
    writeFileSync(join(programs, folder, 'FreeDentalConfig.xml'), text)
    return join(programs, folder, 'FreeDentalConfig.xml')
  }
  const usual = at('Open Dental', openDentalSettings({ host: 'localhost', name: 'opendental' }))
  const other = at(
    'OpenDentalPedo',
    openDentalSettings({ host: 'SERVER01:3307', name: 'pedo &amp; ortho', user: 'od' }),
  )
  const tier = at('Open Dental Web', middleTierSettings)
  at('Open Dental Broken', '<ConnectionSettings><Database')
  at('Another Program', openDentalSettings({ host: 'elsewhere', name: 'other' }))

  assert.deepEqual(findOpenDental([programs, join(programs, 'missing')]), [
    { file: usual, host: '127.0.0.1', port: 3306, name: 'opendental', user: 'root' },
    { file: tier, middleTier: 'http://server01/OpenDentalServer/ServiceMain.asmx' },
    { file: other, host: 'SERVER01', port: 3307, name: 'pedo & ortho', user: 'od' },
  ])
  // A folder that a person names is the folder itself.
  assert.deepEqual(
    findOpenDental([join(programs, 'Open Dental')]).map(({ file }) => file),
    [usual],
  )
})

test('knows a database server by its greeting, and nothing else for one', async () => {
  const port = await freePort()
  await startTestMariaDb({ after }, { port })
  const found = await findDatabaseServer('127.0.0.1', port)
  assert.match(found !== null && 'version' in found ? found.version : '', /^MariaDB \d+\.\d+\.\d+$/)

  const greetings: [Buffer | null, unknown][] = [
    [packet(Buffer.from('\u000a5.7.44-log\0rest')), { version: 'MySQL 5.7.44' }],
    [packet(Buffer.from([255, 106, 4])), { refuses: true }],
    [Buffer.from('SSH-2.0-OpenSSH_9.9\r\n'), null],
    [packet(Buffer.concat([Buffer.from([10]), Buffer.alloc(400, 'x')])), null],
    [null, null],
  ]
  for (const [greeting, expected] of greetings) {
    const server = createServer((socket) => (greeting === null ? undefined : socket.write(greeting)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const at = typeof address === 'object' && address !== null ? address.port : 0
    assert.deepEqual(await findDatabaseServer('127.0.0.1', at, 200), expected)
    server.close()
    if (greeting === null) assert.equal(await findDatabaseServer('127.0.0.1', at, 200), null, 'nothing listens')
  }
})

function packet(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([payload.length & 0xff, payload.length >> 8, 0, 0]), payload])
}
