import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadTogether } from './test-processes.ts'

const runner = pathToFileURL(join(import.meta.dirname, 'test-run.ts')).href
const passes = `import test from 'node:test'; test('passes', () => {})`
const fails = `import test from 'node:test'; test('fails', () => { throw new Error('always') })`
/** Fails in its first run, as a test that a busy machine disturbs. */
const failsOnce = (mark: string) => `import test from 'node:test'; import { existsSync, writeFileSync } from 'node:fs'
  test('fails once', () => {
    if (existsSync(${JSON.stringify(mark)})) return
    writeFileSync(${JSON.stringify(mark)}, '')
    throw new Error('first run')
  })`
/** Its test ends, and its timer never does. */
const stays = `import test from 'node:test'; setInterval(() => {}, 1000); test('leaves a timer', () => {})`

test('a file that fails beside others and passes alone is named, and the run passes', async (t) => {
  const { folder, run } = testFiles(t)
  const { code, output } = await run({ 'a.mjs': failsOnce(join(folder, 'mark')), 'b.mjs': passes })
  assert.equal(code, 0, output)
  assert.ok(existsSync(join(folder, 'mark')))
  assert.match(output, /first run/)
  assert.match(output, /Failed beside the others, passed alone .*\n {2}.*a\.mjs/)
})

test('a file that fails twice, and more failures than a busy machine makes, fail the run', async (t) => {
  const { run } = testFiles(t)
  const twice = await run({ 'a.mjs': fails, 'b.mjs': passes })
  assert.equal(twice.code, 1, twice.output)
  assert.doesNotMatch(twice.output, /passed alone/)
  const many = await run(Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [`${name}.mjs`, fails])))
  assert.equal(many.code, 1, many.output)
  assert.doesNotMatch(many.output, /once more/)
})

test('a process that something keeps after its tests ended says what, and fails', async (t) => {
  const { run } = testFiles(t)
  const { code, output } = await run({ 'a.mjs': stays })
  assert.equal(code, 1, output)
  assert.match(output, /this keeps their process: \[.*'Timeout'/s)
})

function testFiles(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-run-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const run = async (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const loaders = Object.keys(files).map((name) => loadTogether(join(folder, `load-${name}`), [join(folder, name)]))
    const paths = JSON.stringify(loaders)
    // A run within a run would report to the outer one.
    const { NODE_TEST_CONTEXT: _, ...outer } = process.env
    const call = `import { runTestFiles } from ${JSON.stringify(runner)}
      process.exitCode = await runTestFiles({ paths: ${paths}, processesAtOnce: 2, env: process.env, folder: ${JSON.stringify(folder)} })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', call], {
      env: { ...outer, BRIDGEWORK_TEST_END_MS: '500' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const [code] = await once(child, 'close')
    return { code, output }
  }
  return { folder, run }
}
