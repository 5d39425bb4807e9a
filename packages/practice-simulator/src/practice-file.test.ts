import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { createPractice, demoShape, openDentalShape, type PracticeShape } from './create-practice.ts'
import { livingPractice } from './living-practice.ts'
import { openPracticeFile } from './practice-file.ts'

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bw-practice-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function open(path: string, shape: PracticeShape) {
  const file = openPracticeFile(path, () => createPractice(shape))
  return { file, living: livingPractice(file.stored.practice, file.stored.eventsSoFar) }
}

test('a practice goes on after each start as if it had never stopped', async (t) => {
  for (const shape of [demoShape('goes on'), openDentalShape('goes on', { keyStyle: 'random' })]) {
    const path = join(await folderOf(t), 'state', 'practice.sqlite')
    const whole = livingPractice(createPractice(shape))
    for (let start = 0; start < 4; start++) {
      const { file, living } = open(path, shape)
      assert.deepEqual(living.truth(), whole.truth())
      for (let n = 0; n < 25; n++) {
        const event = living.moveOn()
        file.keep(event, living.eventsSoFar())
        assert.deepEqual(event, whole.moveOn())
      }
      file.close()
    }
  }
})

test('another seed does not replace the practice that is there', async (t) => {
  const path = join(await folderOf(t), 'practice.sqlite')
  open(path, demoShape('first')).file.close()
  const { file, living } = open(path, demoShape('second'))
  assert.equal(living.practice.seed, 'first')
  file.close()
})

test('a practice of an older version, which knew less, is made anew', async (t) => {
  const path = join(await folderOf(t), 'practice.sqlite')
  const first = open(path, demoShape('older'))
  first.file.keep(first.living.moveOn(), first.living.eventsSoFar())
  first.file.close()
  const database = new DatabaseSync(path)
  database.exec("update header set document = json_set(document, '$.format', 1)")
  database.close()

  const { file, living } = open(path, demoShape('older'))
  assert.equal(living.eventsSoFar(), 0)
  assert.deepEqual(living.truth(), livingPractice(createPractice(demoShape('older'))).truth())
  file.close()
})

test('a file of something else is refused with what to do', async (t) => {
  const path = join(await folderOf(t), 'practice.sqlite')
  await writeFile(path, 'something else, long enough to be looked at')
  assert.throws(() => open(path, demoShape('x')), /Remove the file to begin with a new one/)
})
