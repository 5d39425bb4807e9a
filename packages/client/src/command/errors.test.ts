import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { aRecord } from '../testing/test-client.ts'
import { command, someCommand, someFolder } from './testing/test-command.ts'

const nowhere = { HOME: '/nonexistent' }

test('what is mistyped is answered with what was meant', async () => {
  for (const [argv, code, text] of [
    [['pul'], 2, /Unknown command "pul"\. Did you mean "pull"\? Commands: login/],
    [['mirrro'], 2, /Did you mean "mirror"\?/],
    [['xyzzy'], 2, /^Unknown command "xyzzy"\. Commands: /],
    [['pull', 'patient'], 2, /Unknown dataset "patient"\. Did you mean "patients"\?/],
    [['pull', 'patients', '--ouput', 'x.csv'], 2, /Unknown option '--ouput'\. Did you mean "--output"\?/],
    [['pull', 'patients', '--fields', 'firstname'], 2, /Did you mean "first_name"\?/],
    [['help', 'nope'], 64, /^Unknown command "nope"\. Commands: /],
    [['help', 'doktor'], 64, /Unknown command "doktor"\. Did you mean "doctor"\?/],
  ] as const) {
    const answer = await command([...argv], nowhere)
    assert.equal(answer.code, code, answer.err)
    assert.match(answer.err, text)
    assert.equal(answer.out, '')
  }
})

test('a target of another kind is refused with the right spelling, and nothing is made', async (t) => {
  const folder = someFolder(t)
  for (const [argv, text] of [
    [['mirror', '--to', join(folder, 's.sqlite')], /--to sqlite:\S+s\.sqlite/],
    [['mirror', '--to', join(folder, 's.db')], /--to sqlite:\S+s\.db/],
    [
      ['pull', 'patients', '--output', join(folder, 'x.xlsx')],
      /\.xlsx.*\.ndjson, \.jsonl, \.csv or \.parquet.*--spreadsheet/,
    ],
    [
      ['pull', 'patients', '--output', join(folder, 'x.dat')],
      /\.dat.*To keep this name, add --format ndjson, --format csv or --format parquet/,
    ],
    [['pull', 'patients', '--output', join(folder, 'x.sqlite')], /\.sqlite.*mirror --to sqlite:/],
  ] as const) {
    const { code, err } = await command([...argv], nowhere)
    assert.equal(code, 2, err)
    assert.match(err, text)
  }
  assert.deepEqual(readdirSync(folder), [])
})

test('a folder that an earlier mirror has made is gone on with, however it is called', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 1 })
  const folder = join(someFolder(t), 'copy.db')
  mkdirSync(folder)
  assert.equal((await command(['mirror', '--to', folder], env)).code, 0)
})

test('with --json an error is one line of JSON on stderr, and so is what is said beside the data', async (t) => {
  const { env, world } = await someCommand(t)
  const alone = await world.addVendor([])
  const ofAlone = { ...env, BRIDGEWORK_CLIENT_ID: alone.clientId, BRIDGEWORK_CLIENT_SECRET: alone.clientSecret }
  const wrong = { ...env, BRIDGEWORK_CLIENT_SECRET: 'bws_wrong' }
  const errorOf = async (argv: string[], given: Record<string, string>) => {
    const { code, err, out } = await command([...argv, '--json'], given)
    const lines = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(out, '')
    return { code, ...lines.at(-1) }
  }

  const refused = await errorOf(['locations'], wrong)
  assert.deepEqual([refused.code, refused.exit_code], [3, 3])
  assert.deepEqual([refused.error.code, refused.error.status], ['credentials_invalid', 401])
  assert.match(refused.error.request_id, /^[0-9a-f-]{36}$/)
  assert.equal((await errorOf(['pul'], env)).error.code, 'usage')
  assert.match((await errorOf(['help', 'nope'], env)).error.message, /Unknown command "nope"/)
  assert.equal((await errorOf(['locations'], nowhere)).error.code, 'credentials_missing')
  const output = join(someFolder(t), 'fodler/a.csv')
  const lost = await errorOf(['pull', 'patients', '--output', output], env)
  assert.deepEqual([lost.exit_code, lost.error.code], [1, 'target_failed'])
  assert.match(lost.error.message, /fodler.*does not exist\. Create it/)
  assert.match((await errorOf(['pull', 'patients'], ofAlone)).message, /No location has granted patients/)
})

test('a refusal says where the service explains it', async (t) => {
  const { env } = await someCommand(t)
  const { err } = await command(['locations'], { ...env, BRIDGEWORK_CLIENT_SECRET: 'bws_wrong' })
  const origin = new URL(env.BRIDGEWORK_BASE_URL ?? '').origin
  assert.ok(err.includes(`\nAbout this error: ${origin}/guides/errors#credentials_invalid\n`), err)
})

test('errors of filters name the command’s options', async (t) => {
  const { env, location } = await someCommand(t)
  await location.upload('appointments', { a1: aRecord('appointments') })
  for (const [argv, text] of [
    [['patients', '--patient', '1'], /--patient does not filter patients\. It filters appointments, treatments, /],
    [
      ['treatments', '--starts-from', '2026-01-31'],
      /--starts-from does not filter treatments\. It filters appointments\./,
    ],
    [['patients', '--since', 'yesterday'], /--since must be an RFC 3339 date-time .*you sent: "yesterday"/],
    [['appointments', '--starts-to', '1'], /--starts-to must be an RFC 3339/],
    [
      ['appointments', '--starts-from', '2026-02-01T00:00:00Z', '--starts-to', '2026-01-01T00:00:00Z'],
      /--starts-to must be later than --starts-from/,
    ],
    [['appointments', '--patient', 'x'], /--patient must be the id of a patient/],
    [['patients', '--since', '2199-01-01T00:00:00Z'], /--since lies in the future/],
  ] as const) {
    const { code, err, out } = await command(['pull', ...argv], env)
    assert.equal(code, 2, err)
    assert.match(err, text)
    assert.doesNotMatch(err, /q\[|fields\[|%2B|meta\./)
    assert.equal(out, '')
  }
  assert.ok(!existsSync('x.xlsx'))
})
