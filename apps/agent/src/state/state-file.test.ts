import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../testing/test-agent.ts'
import { digestState } from './digest-state.ts'
import { inTransaction, openStateFile, stateProblem } from './state-file.ts'

const run = { run: 7, rows: 100, digest: 'd' }

/** What people are told when this fails, and whether the file is damaged; null: it does not fail, or for another reason. */
function toldOf(path: string, work: () => void): string | null {
  try {
    work()
  } catch (error) {
    const problem = stateProblem(path, error)
    return problem && [problem.message, problem.todo, problem.isDamaged].join(' / ')
  }
  return null
}

test('a write that fails is undone, and the next one works', (t) => {
  const digests = digestState(openStateFile(join(temporaryFolder(t), 'state.sqlite')).database)
  digests.replace('patients', 0, 10, [run])
  assert.throws(() => digests.replace('patients', 0, 10, [run, run]), /UNIQUE/)
  assert.deepEqual([...digests.between('patients', 0, 10)], [run])
  digests.replace('patients', 0, 10, [{ ...run, run: 9 }])
  assert.equal(digests.nextRun('patients', 0), 9)
})

test('an error after which SQLite has rolled back by itself stays the error', (t) => {
  const { database: file } = openStateFile(join(temporaryFolder(t), 'state.sqlite'))
  assert.throws(
    () =>
      inTransaction(file, () => {
        file.exec('rollback')
        throw new Error('database or disk is full')
      }),
    /disk is full/,
  )
  inTransaction(file, () => file.exec("insert into setting (name, value) values ('a', 'b')"))
})

test('the state of an earlier agent loses what it remembers and keeps its numbers', (t) => {
  const path = join(temporaryFolder(t), 'state.sqlite')
  const { database: before } = openStateFile(path)
  before.exec("insert into setting (name, value) values ('next_upload_number', '42')")
  digestState(before).replace('patients', 0, 10, [run])
  digestState(before).keepPosition('p')
  before.exec('pragma user_version = 2')
  before.close()

  const { database: file } = openStateFile(path)
  assert.equal(file.prepare('select value from setting').get()?.value, '42')
  assert.deepEqual([digestState(file).rows('patients'), digestState(file).position()], [0, null])
  assert.match(toldOf(path, () => openStateFile(path)) ?? '', /^Another agent is running .* \/ Stop that agent first\./)
  file.close()
})

test('a state file that is cut, zeroed or overwritten in its middle is set aside, and a new one begun', (t) => {
  const whole = join(temporaryFolder(t), 'whole.sqlite')
  const { database } = openStateFile(whole)
  for (let number = 0; number < 2_000; number++)
    digestState(database).replace('patients', number, number, [{ ...run, run: number }])
  database.close()
  const bytes = readFileSync(whole)
  const damages: [string, (path: string) => void][] = [
    ['cut', (path) => truncateSync(path, Math.floor(bytes.length / 2))],
    ['cut within its header', (path) => truncateSync(path, 60)],
    ['zeroed', (path) => writeFileSync(path, Buffer.alloc(bytes.length))],
    ['half zeroed', (path) => writeFileSync(path, bytes.with(0, bytes[0] ?? 0).fill(0, bytes.length / 2))],
    ['overwritten', (path) => writeFileSync(path, Buffer.from(bytes).fill(0xa5, 4_096, 20_000))],
  ]
  for (const [what, damage] of damages) {
    const path = join(temporaryFolder(t), 'state.sqlite')
    copyFileSync(whole, path)
    damage(path)
    const { database: fresh, setAside } = openStateFile(path)
    assert.equal(setAside, `${path}.damaged`, what)
    assert.equal(digestState(fresh).rows('patients'), 0, what)
    assert.ok(existsSync(`${path}.damaged`), what)
    fresh.close()
    assert.equal(openStateFile(path).setAside, null, what)
  }
})

test('what is no state file stays where it is, and an empty one is a new one', (t) => {
  const path = join(temporaryFolder(t), 'state.sqlite')
  writeFileSync(path, 'The letters of the office, which somebody named by mistake. '.repeat(100))
  assert.match(
    toldOf(path, () => openStateFile(path)) ?? '',
    /is not a state file of this agent\. \/ Move it away, or set another path in state_path\./,
  )
  assert.match(readFileSync(path, 'utf8'), /^The letters/)
  writeFileSync(path, '')
  assert.equal(openStateFile(path).setAside, null)
})

test('a full disk, and a path that cannot be opened, are said with what to do', (t) => {
  const path = join(temporaryFolder(t), 'state.sqlite')
  const { database } = openStateFile(path)
  database.exec(`pragma max_page_count = ${database.prepare('pragma page_count').get()?.page_count}`)
  const fill = () => database.exec(`insert into setting values ('a', '${'x'.repeat(100_000)}')`)
  assert.match(
    toldOf(path, fill) ?? '',
    /is full, so nothing can be sent\. \/ Make room on it\. The agent goes on by itself\. \/ false/,
  )
  const folder = join(temporaryFolder(t), 'state.sqlite')
  mkdirSync(folder)
  assert.match(
    toldOf(folder, () => openStateFile(folder)) ?? '',
    /^The state file .* cannot be opened\. \/ Check the path \(state_path of the settings\) and that its folder exists\./,
  )
  assert.equal(
    toldOf(path, () => {
      throw new Error('of something else')
    }),
    null,
  )
})

test('an error of the disk, of rights and of the file itself is said with what to do', () => {
  const failing = (error: object) =>
    toldOf('/s', () => {
      throw Object.assign(new Error('failed'), error)
    })
  const ofDisk =
    '/s has an error. / Check the disk. If it is sound, restart the agent; if not, set another path in state_path. / false'
  const ofRights =
    '/s cannot be written, so nothing can be sent. / Give the account of the agent the right to write to the file and its folder, on a disk that is not read-only. / false'
  // An extended code holds the primary one in its lowest byte: SQLITE_IOERR_READ is 266.
  assert.equal(failing({ code: 'ERR_SQLITE_ERROR', errcode: 266 }), `The disk of the state file ${ofDisk}`)
  assert.equal(failing({ code: 'EIO' }), `The disk of the state file ${ofDisk}`)
  assert.equal(failing({ code: 'ERR_SQLITE_ERROR', errcode: 8 }), `The state file ${ofRights}`)
  assert.equal(failing({ code: 'EROFS' }), `The state file ${ofRights}`)
  assert.equal(
    failing({ code: 'ERR_SQLITE_ERROR', errcode: 11 }),
    'The state file /s is damaged. / Start the agent again: it sets the file aside and compares everything. / true',
  )
})
