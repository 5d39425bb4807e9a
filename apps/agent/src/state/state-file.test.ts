import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../testing/test-agent.ts'
import { digestState } from './digest-state.ts'
import { inTransaction, openStateFile, StateUnusable } from './state-file.ts'

const run = { run: 7, rows: 100, digest: 'd' }

test('a write that fails is undone, and the next one works', (t) => {
  const digests = digestState(openStateFile(join(temporaryFolder(t), 'state.sqlite')))
  digests.replace('patients', 0, 10, [run])
  assert.throws(() => digests.replace('patients', 0, 10, [run, run]), /UNIQUE/)
  assert.deepEqual([...digests.between('patients', 0, 10)], [run])
  digests.replace('patients', 0, 10, [{ ...run, run: 9 }])
  assert.equal(digests.nextRun('patients', 0), 9)
})

test('an error after which SQLite has rolled back by itself stays the error', (t) => {
  const file = openStateFile(join(temporaryFolder(t), 'state.sqlite'))
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
  const before = openStateFile(path)
  before.exec("insert into setting (name, value) values ('next_upload_number', '42')")
  digestState(before).replace('patients', 0, 10, [run])
  digestState(before).keepPosition('p')
  before.exec('pragma user_version = 2')
  before.close()

  const file = openStateFile(path)
  assert.equal(file.prepare('select value from setting').get()?.value, '42')
  assert.deepEqual([digestState(file).rows(), digestState(file).position()], [0, null])
  assert.throws(() => openStateFile(path), StateUnusable)
  file.close()
})
