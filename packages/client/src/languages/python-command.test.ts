import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { aRecord, someClient } from '../testing/test-client.ts'
import { pythonPackage, someFolder, startPython } from './testing/test-python.ts'

test('the Python command with --watch has a change in the copy as soon as the service tells of it', async (t) => {
  const { world, vendor, location } = await someClient(t)
  await location.upload('patients', { p1: aRecord('patients') })
  const folder = someFolder(t)
  const args = ['mirror', '--to', `sqlite:${join(folder, 'copy.sqlite')}`, '--json', '--watch']
  const { child, ended } = startPython(t, args, { url: world.url, vendor, config: folder })
  let text = ''
  child.stdout?.on('data', (part) => {
    text += part
  })
  const written = () => [...text.matchAll(/"records": (\d+)/g)].reduce((sum, [, records]) => sum + Number(records), 0)
  const wrote = async (count: number) => {
    while (written() < count) {
      await Promise.race([once(child.stdout ?? child, 'data'), ended.then(({ err }) => assert.fail(err))])
    }
  }
  await wrote(1)
  await location.upload('patients', { p2: aRecord('patients'), p3: aRecord('patients') })
  await wrote(3)
  child.kill('SIGINT')
  assert.equal((await ended).code, 130)
  assert.equal(written(), 3)
})

test('the Python command says what is wrong, and its exit code is that of the bridgework command', async (t) => {
  const { world, vendor } = await someClient(t)
  const config = someFolder(t)
  const to = ['--to', `sqlite:${join(config, 'copy.sqlite')}`]
  const run = (args: string[], clientSecret = vendor.clientSecret) =>
    startPython(t, args, { url: world.url, vendor: { ...vendor, clientSecret }, config }).ended
  for (const [args, secret, code, said] of [
    [['mirror'], undefined, 2, /^Name the place of the copy: --to sqlite:copy\.sqlite or --to postgres:\/\/…\n$/],
    [['mirror', ...to, '--every', '1s'], undefined, 2, /use 10s or more/],
    [['mirror', ...to], 'bws_wrong', 3, /^Invalid client credentials \(401 credentials_invalid\)\n$/],
    [['mirror', ...to], '', 3, /^Set all of BRIDGEWORK_BASE_URL/],
    [['mirror', ...to, '--file', 'none.json'], undefined, 3, /^There is no key pair\. none\.json does not exist\.\n$/],
    [['mirror', ...to, '--location', '7'], undefined, 4, /Location 7: patients was not granted\./],
    [
      ['mirror', '--to', `sqlite:${join(pythonPackage, 'no folder', 'copy')}`],
      undefined,
      1,
      /Its folder does not exist/,
    ],
  ] as const) {
    const ended = await run([...args], secret)
    assert.match(ended.err, said)
    assert.equal(ended.code, code, ended.err)
  }
})
