import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import fs, {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRelease, sealRelease, UpdateRefused } from '@bridgework/contract/signed-release'
import { temporaryFolder } from '../testing/test-agent.ts'
import { createOwnFile, NotOwn, readOwnFile, requireOwnFolder } from './own-file.ts'
import { openUpdates } from './updates.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const release = (version: string) => sealRelease(version, Buffer.from(`// ${version}\n`), privateKey)

/** An agent that runs version 0.3.0, and a folder of another account. */
function someOffice(t: TestContext) {
  const [data, foreign] = [temporaryFolder(t), temporaryFolder(t)]
  const updates = openUpdates(data, publicKey)
  updates.install(release('0.3.0'), '0.2.0')
  updates.write({ ...updates.read(), current: '0.3.0', next: null })
  assert.notEqual(updates.program('0.3.0'), null)
  const folder = join(data, 'updates')
  /** Moves what is there to the other account's folder, and leaves a link to it. */
  const replaceByLink = (path: string, name: string) => {
    renameSync(path, join(foreign, name))
    symlinkSync(join(foreign, name), path)
  }
  return { data, foreign, folder, updates, replaceByLink }
}

test('K53: a link in the place of any file of an update is not followed', (t) => {
  for (const name of ['state.json', '0.3.0.release', '0.3.0.mjs']) {
    const { foreign, folder, updates, replaceByLink } = someOffice(t)
    replaceByLink(join(folder, name), name)
    const content = readFileSync(join(foreign, name))

    if (name === 'state.json') assert.equal(updates.read().current, null)
    else assert.equal(updates.read().current, '0.3.0')
    const program = updates.program('0.3.0')
    assert.equal(program === null, name === '0.3.0.release', name)
    // The program of a release that is whole takes the place of the link.
    if (program !== null) assert.ok(lstatSync(program).isFile())
    updates.write({ ...updates.read(), refused: ['0.9.9'] })
    updates.install(release('0.4.0'), '0.2.0')
    updates.keep(['0.4.0'])
    assert.deepEqual(readFileSync(join(foreign, name)), content, `${name}: the file behind the link`)
  }
})

test('K53: what lies at the name of a file that is being written is not written to', (t) => {
  for (const name of ['state.json.new', '0.4.0.release.new', '0.4.0.mjs.new']) {
    for (const place of [symlinkSync, linkSync]) {
      const { foreign, folder, updates } = someOffice(t)
      const theirs = join(foreign, 'theirs')
      writeFileSync(theirs, 'theirs')
      place(theirs, join(folder, name))
      assert.equal(updates.install(release('0.4.0'), '0.2.0'), '0.4.0')
      assert.equal(readFileSync(updates.program('0.4.0') ?? '', 'utf8'), '// 0.4.0\n')
      assert.equal(updates.read().next, '0.4.0')
      assert.equal(readFileSync(theirs, 'utf8'), 'theirs', `${name} by ${place.name}`)
    }
  }
})

test('K53: a file or a folder is used where it is itself there and its account alone can write, and else its name and the fault are said', (t) => {
  const folder = temporaryFolder(t)
  const [file, link, pipe] = [join(folder, 'file'), join(folder, 'link'), join(folder, 'pipe')]
  writeFileSync(file, 'content')
  symlinkSync(file, link)
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  const foldersLink = join(temporaryFolder(t), 'link')
  symlinkSync(folder, foldersLink)
  const refuses = (work: () => unknown, path: string, fault: string) =>
    assert.throws(
      work,
      (error) => error instanceof NotOwn && error.message.includes(path) && error.message.includes(fault),
    )

  refuses(() => readOwnFile(link), link, 'is a link, and not a file. Remove it.')
  for (const path of [folder, pipe]) refuses(() => readOwnFile(path), path, 'is not a file')
  for (const path of [file, pipe, foldersLink]) refuses(() => requireOwnFolder(path), path, 'is a link or a file')
  for (const mode of [0o600, 0o644, 0o755, 0o400]) {
    chmodSync(file, mode)
    assert.equal(readOwnFile(file).toString(), 'content')
    chmodSync(folder, mode | 0o100)
    requireOwnFolder(folder)
  }
  for (const mode of [0o620, 0o602, 0o666, 0o777]) {
    chmodSync(file, mode)
    refuses(() => readOwnFile(file), file, "Another account than the agent's can write")
    chmodSync(folder, mode | 0o100)
    refuses(() => requireOwnFolder(folder), folder, "Another account than the agent's can write")
  }
  chmodSync(folder, 0o700)
  chmodSync(file, 0o600)
  // The administrator's folder, which the agent of another account uses.
  t.mock.method(process as { geteuid: () => number }, 'geteuid', () => 12_345)
  requireOwnFolder('/')
  // It was a file when it was looked at, and is a link when it is opened.
  const replace = () => renameSync(foldersLink, file)
  whileAnother(t, 'lstatSync', replace, () => assert.throws(() => readOwnFile(file), { code: 'ELOOP' }))
})

test('K53: no file that was read or refused stays open', (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, 'content')
  const open = () => readdirSync('/dev/fd').length
  const before = open()
  for (const mode of [0o600, 0o666]) {
    chmodSync(file, mode)
    for (let time = 0; time < 5; time += 1)
      if (mode === 0o600) readOwnFile(file)
      else assert.throws(() => readOwnFile(file), NotOwn)
  }
  assert.ok(open() < before + 5, `${before}, then ${open()}`)
})

test('K53: a file that another account puts there while one is being written is not opened', (t) => {
  const folder = temporaryFolder(t)
  const [path, theirs] = [join(folder, 'new'), join(folder, 'theirs')]
  const places: Record<string, () => void> = {
    'a link': () => symlinkSync(theirs, path),
    'a link that leads nowhere': () => symlinkSync(join(folder, 'none'), path),
    'another name of their file': () => linkSync(theirs, path),
    'a file': () => writeFileSync(path, 'theirs'),
  }
  for (const [name, place] of Object.entries(places)) {
    writeFileSync(theirs, 'theirs')
    whileAnother(t, 'rmSync', place, () => assert.throws(() => createOwnFile(path), { code: 'EEXIST' }, name))
    assert.equal(readFileSync(theirs, 'utf8'), 'theirs', name)
    assert.ok(!existsSync(join(folder, 'none')), name)
  }

  writeFileSync(path, 'what was there before')
  const file = createOwnFile(path)
  assert.equal(writeSync(file, 'ours'), 4)
  assert.throws(() => readSync(file, Buffer.alloc(4)), { code: 'EBADF' }, 'it is for writing alone')
  closeSync(file)
  assert.equal(readFileSync(path, 'utf8'), 'ours')
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

/** Does the work while another account acts right after each time that a file was looked at or removed. */
function whileAnother(t: TestContext, what: 'lstatSync' | 'rmSync', acts: () => void, work: () => void): void {
  const real = fs[what] as (...args: unknown[]) => unknown
  const mocked = t.mock.method(fs, what, (...args: unknown[]) => {
    const result = real(...args)
    acts()
    return result
  })
  // Named imports of the module follow.
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    mocked.mock.restore()
    syncBuiltinESMExports()
  }
}

test('K53: a folder of updates that is a link, or that another account can write to, is not used, and that is said', (t) => {
  const spoilings: [string, (office: ReturnType<typeof someOffice>) => void][] = [
    ['a link', ({ folder, replaceByLink }) => replaceByLink(folder, 'updates')],
    [
      'a link that leads nowhere',
      ({ folder, foreign }) => {
        renameSync(folder, join(foreign, 'updates'))
        symlinkSync(join(foreign, 'none'), folder)
      },
    ],
    ['a folder that all can write to', ({ folder }) => chmodSync(folder, 0o777)],
    ['a data folder that the group can write to', ({ data }) => chmodSync(data, 0o770)],
    ...(process.getuid?.() === 0
      ? ([
          ['another account’s folder', ({ folder }) => chownSync(folder, 65534, 65534)],
          ['another account’s data folder', ({ data }) => chownSync(data, 65534, 65534)],
        ] as [string, (office: ReturnType<typeof someOffice>) => void][])
      : []),
  ]
  for (const [name, spoil] of spoilings) {
    const office = someOffice(t)
    const { foreign, updates } = office
    spoil(office)
    const before = existsSync(join(foreign, 'updates')) ? readdirSync(join(foreign, 'updates')).sort() : []

    assert.equal(updates.read().current, null, name)
    assert.equal(updates.program('0.3.0'), null, name)
    assert.match(updates.problem() ?? '', /is a link|can write to/, name)
    assert.throws(() => updates.install(release('0.4.0'), '0.2.0'), UpdateRefused, name)
    updates.keep([])
    assert.deepEqual(existsSync(join(foreign, 'updates')) ? readdirSync(join(foreign, 'updates')).sort() : [], before)
  }
})

test('K53: a file of an update that another account can write to, and what is no file, are not read', (t) => {
  const { folder, updates } = someOffice(t)
  chmodSync(join(folder, 'state.json'), 0o666)
  assert.equal(updates.read().current, null)
  chmodSync(join(folder, 'state.json'), 0o600)
  assert.equal(updates.read().current, '0.3.0')

  renameSync(join(folder, '0.3.0.release'), join(folder, 'kept'))
  mkdirSync(join(folder, '0.3.0.release'))
  assert.equal(updates.program('0.3.0'), null)
  // Opened as a file is, a pipe would wait for ever.
  assert.equal(spawnSync('mkfifo', [join(folder, '0.4.0.release')]).status, 0)
  assert.equal(updates.program('0.4.0'), null)
})

test('K53: a data folder that the administrator named by a link is used', (t) => {
  const { data, foreign } = someOffice(t)
  const link = join(foreign, 'data')
  symlinkSync(data, link)
  const updates = openUpdates(link, publicKey)
  assert.equal(updates.problem(), null)
  assert.equal(updates.read().current, '0.3.0')
  assert.equal(updates.install(release('0.4.0'), '0.2.0'), '0.4.0')
})

test('K53: a version of another form than 1.2.3 is refused: in the state, as the name of a file and in a release', (t) => {
  const { data, folder, updates } = someOffice(t)
  // A release that is whole and signed, outside of the folder.
  writeFileSync(join(data, 'x.release'), release('0.4.0'))
  for (const version of [
    '../..',
    '../x',
    '0.4.0/../../x',
    '0.4.0-/../../x',
    '0.4.0 ',
    '0.4.0\n',
    '0.4.0\0',
    '00.4.0',
  ]) {
    const state = { current: version, next: version, starts: 1, refused: [version, '0.9.9'] }
    writeFileSync(join(folder, 'state.json'), JSON.stringify(state))
    assert.deepEqual(updates.read(), { current: null, next: null, starts: 1, refused: ['0.9.9'] })
    assert.equal(updates.program(version), null)
    const sealed = sealRelease(version, Buffer.from('//'), privateKey)
    assert.throws(() => openRelease(sealed, publicKey), /is not of the form 1\.2\.3/)
    assert.throws(() => updates.install(sealed, '0.2.0'), UpdateRefused)
  }
  for (const content of ['null', '[]', '"0.3.0"', '{"current":{"toString":1},"starts":"x","refused":7}', '{', '']) {
    writeFileSync(join(folder, 'state.json'), content)
    assert.deepEqual(updates.read(), { current: null, next: null, starts: 0, refused: [] }, content)
  }
  assert.deepEqual(readdirSync(folder).sort(), ['0.3.0.mjs', '0.3.0.release', 'state.json'])
})
