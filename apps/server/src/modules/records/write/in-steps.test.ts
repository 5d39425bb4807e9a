import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inSteps } from './in-steps.ts'

test('while one part is written, the next is rendered; the one after it is prepared before that is written', async () => {
  const events: string[] = []
  await inSteps([1, 2, 3], steps(events))

  assert.deepEqual(
    events.filter((event) => event.startsWith('wrote')),
    ['wrote 1', 'wrote 2', 'wrote 3'],
  )
  const before = (one: string, other: string) =>
    assert.ok(events.indexOf(one) < events.indexOf(other), `${one}, ${other}`)
  before('render 2', 'wrote 1')
  before('prepared 3', 'write 2')
  before('wrote 1', 'write 2')
  before('wrote 2', 'write 3')
})

test('no parts are no steps', async () => {
  const events: string[] = []
  await inSteps([], steps(events))
  assert.deepEqual(events, [])
})

for (const failing of ['prepared 2', 'render 2', 'wrote 1', 'wrote 3']) {
  test(`when a step fails (${failing}), the others that had begun end first, and none begins after it`, async () => {
    const events: string[] = []
    await assert.rejects(inSteps([1, 2, 3], steps(events, failing)), { message: failing })

    const ended = [...events]
    await sleep(20)
    assert.deepEqual(events, ended)
    const begun = events.filter((event) => /^(prepare|write) /.test(event)).length
    assert.equal(events.filter((event) => /^(prepared|wrote) /.test(event)).length, begun)
  })
}

/** Steps that take a while and note what they do. */
function steps(events: string[], failing?: string) {
  const note = (event: string) => {
    events.push(event)
    if (event === failing) throw new Error(event)
  }
  return {
    async prepare(part: number) {
      note(`prepare ${part}`)
      await sleep(2)
      note(`prepared ${part}`)
      return part
    },
    async render(part: number) {
      note(`render ${part}`)
      return async () => {
        note(`write ${part}`)
        await sleep(5)
        note(`wrote ${part}`)
      }
    },
  }
}
