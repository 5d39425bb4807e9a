import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { begin, command, someCommand, someFolder } from '../command/testing/test-command.ts'
import { openStore } from '../sync/testing/test-mirror.ts'
import { aRecord } from '../testing/test-client.ts'
import { appendPrivate, createPrivate, makePrivate } from './private-file.ts'

const run = promisify(execFile)

test('K51: every file that the command makes is its owner’s alone, whatever the umask', async (t) => {
  const { env, folder } = await someRecords(t)
  const main = join(import.meta.dirname, '../command/main.ts')
  const lines = [
    `mirror --to sqlite:${folder}/copy.sqlite`,
    `mirror --to ${folder}/files`,
    ...['ndjson', 'csv', 'parquet'].map((format) => `pull patients --output ${folder}/patients.${format}`),
    `sql --to sqlite:${folder}/copy.sqlite ${JSON.stringify('select * from patients')}`,
  ]
  // The second one takes the owner's rights to write, too.
  for (const [umask, asked] of [
    ['000', lines],
    ['277', lines.slice(2, 3)],
  ] as const) {
    for (const line of asked) {
      await run('sh', ['-c', `umask ${umask}; exec "$0" "$1" ${line}`, process.execPath, main], { env })
    }
    assert.deepEqual(openToOthers(folder), [], `umask ${umask}`)
  }
  assert.ok(globSync('files/*/patients.ndjson', { cwd: folder }).length === 1)
})

test('K51: the files beside an open SQLite mirror are its owner’s alone, too', async (t) => {
  const { env, folder } = await someRecords(t)
  const mirror = begin(['mirror', '--to', `sqlite:${folder}/copy.sqlite`, '--every', '1h'], env)
  await mirror.says(/datasets are current/)
  assert.ok(existsSync(join(folder, 'copy.sqlite-wal')) && existsSync(join(folder, 'copy.sqlite-shm')))
  assert.deepEqual(openToOthers(folder), [])
  mirror.interrupt()
  await mirror.ended
})

test('K51: a mirror that others could read is closed to them, and that is said', async (t) => {
  const { env, folder } = await someRecords(t)
  const sqlite = ['mirror', '--to', `sqlite:${join(folder, 'link.sqlite')}`]
  symlinkSync(join(folder, 'copy.sqlite'), join(folder, 'link.sqlite'))
  const files = ['mirror', '--to', join(folder, 'files')]
  for (const argv of [sqlite, files]) assert.equal((await command(argv, env)).code, 0)
  // As an earlier release left them, and a copy that was restored with its log.
  for (const ending of ['-wal', '-shm']) writeFileSync(join(folder, `copy.sqlite${ending}`), '')
  for (const name of globSync('**', { cwd: folder })) {
    const path = join(folder, name)
    if (statSync(path).isFile()) chmodSync(path, 0o664)
  }

  const said = await command(sqlite, env)
  assert.match(said.err, /Other users .* could open .*copy\.sqlite \(its mode was 0664\)\. Now only its owner can/)
  assert.match(said.err, /copy\.sqlite-wal/)
  const saidOfFiles = await command([...files, '--json'], env)
  assert.match(saidOfFiles.err, /^\{"message":"Other users .*patients\.ndjson/m)
  assert.deepEqual(openToOthers(folder), [])
  assert.doesNotMatch((await command(sqlite, env)).err, /Other users/)
})

test('K51: what lies at the name of an unfinished file is not written to', async (t) => {
  const { env, folder } = await someRecords(t)
  const place = join(folder, 'shared')
  mkdirSync(place)
  for (const format of ['ndjson', 'csv', 'parquet']) {
    const [file, theirs] = [join(place, `patients.${format}`), join(folder, `theirs.${format}`)]
    writeFileSync(theirs, 'theirs', { mode: 0o666 })
    // A link that somebody has put there, or a file that somebody else holds open.
    if (format === 'csv') linkSync(theirs, `${file}.part`)
    else symlinkSync(theirs, `${file}.part`)
    const { code, err } = await command(['pull', 'patients', '--output', file], env)
    assert.equal(code, 0, err)
    assert.equal(readFileSync(theirs, 'utf8'), 'theirs')
    assert.equal(realpathSync(file), join(realpathSync(place), `patients.${format}`))
  }
  assert.deepEqual(openToOthers(place), [])
})

test('K51: a mirror is made private before anything is written to it', async (t) => {
  const file = join(someFolder(t), 'copy.sqlite')
  const store = openStore('sqlite', file)
  // SQLite's own first byte comes after the file is there.
  while (!existsSync(file)) await new Promise(setImmediate)
  assert.equal(modeOf(file), 0o600)
  await (await store).close()
})

test('K51: whatever the umask and the mode of what was there, each file ends as its owner’s alone, and others lose each right', async (t) => {
  const file = join(someFolder(t), 'one')
  const umask = process.umask()
  t.after(() => process.umask(umask))
  for (const taken of [0, 0o022, 0o277]) {
    process.umask(taken)
    for (const openPrivate of [createPrivate, appendPrivate]) {
      rmSync(file, { force: true })
      await (await openPrivate(file)).close()
      assert.equal(modeOf(file), 0o600, openPrivate.name)
    }
  }
  for (const mode of [0o601, 0o602, 0o604, 0o610, 0o620, 0o640, 0o777, 0o600, 0o700, 0o400]) {
    const isOpen = (mode & 0o077) !== 0
    chmodSync(file, mode)
    assert.equal(await makePrivate(file), isOpen ? `0${mode.toString(8)}` : null)
    assert.equal(modeOf(file), isOpen ? 0o600 : mode)
    chmodSync(file, mode)
    await (await appendPrivate(file)).close()
    assert.equal(modeOf(file), 0o600)
  }
  assert.equal(await makePrivate(`${file} that is not there`), null)
})

test('on Windows, whose files have no modes of others, none is looked at and none is changed', async (t) => {
  const folder = someFolder(t)
  const file = join(folder, 'theirs')
  writeFileSync(file, '')
  chmodSync(file, 0o644)
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  t.after(() => Object.defineProperty(process, 'platform', { value: platform }))

  assert.equal(await makePrivate(file), null)
  await (await appendPrivate(file)).close()
  assert.equal(modeOf(file), 0o644)
})

async function someRecords(t: TestContext) {
  const { env, location } = await someCommand(t)
  await location.upload('patients', { p1: aRecord('patients', {}), p2: aRecord('patients', {}) })
  return { env, folder: someFolder(t) }
}

function modeOf(file: string): number {
  return statSync(file).mode & 0o777
}

/** Files and their modes, of those that somebody else than their owner may open, or that their owner may not. */
function openToOthers(folder: string): string[] {
  return globSync('**', { cwd: folder })
    .concat(globSync('**/.*', { cwd: folder }))
    .filter((name) => statSync(join(folder, name)).isFile() && !name.startsWith('theirs'))
    .map((name) => ({ name, mode: modeOf(join(folder, name)) }))
    .filter(({ mode }) => mode !== 0o600)
    .map(({ name, mode }) => `${name} ${mode.toString(8)}`)
}
