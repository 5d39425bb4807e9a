import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { mutate, type Promised } from './mutate.ts'
import { judge } from './survivors.ts'

const code = `export function mayEnter(age: number, isMember: boolean): boolean {
  return age >= 18 && isMember
}
export function untested(): void {
  mayEnter(1, true)
}
`
/** Notices everything but that 18 is the bound itself. */
const weakTest = `import assert from 'node:assert/strict'
import test from 'node:test'
import { mayEnter } from './code.ts'
test('a member of twenty may enter', () => assert.equal(mayEnter(20, true), true))
test('nobody else may', () => assert.deepEqual([mayEnter(17, true), mayEnter(20, false)], [false, false]))
`

test('a fault is noticed by a test that fails, or survives; the tree stays as it was', async (t) => {
  const { root, run, tidied } = someTree(t, { 'code.ts': code, 'code.test.ts': weakTest })
  const before = readdirSync(root)

  const {
    rows: [row],
  } = await run()

  const found = row?.outcomes.map(({ mutant: { was, is }, noticedBy, reached }) => [
    `${was} → ${is}`,
    noticedBy,
    reached,
  ])
  assert.deepEqual(
    new Map(found?.map(([fault, ...rest]) => [fault, rest])),
    new Map([
      ['age >= 18 && isMember → null', ['a member of twenty may enter', 1]],
      ['&& → ||', ['nobody else may', 1]],
      ['>= → >', [null, 1]],
      ['>= → <', ['a member of twenty may enter', 1]],
      ['18 → 19', [null, 1]],
      ['18 → 17', ['nobody else may', 1]],
      ['mayEnter(1, true) → ;', [null, 0]],
      ['1 → 2', [null, 0]],
      ['1 → 0', [null, 0]],
      ['true → false', [null, 0]],
    ]),
  )
  assert.deepEqual([readdirSync(root), readFileSync(join(root, 'code.ts'), 'utf8')], [before, code])
  assert.equal(tidied.length, 4, 'after each test that was ended in its middle')
})

test('a fault in a process that the tests start, and one that makes them wait for ever, are noticed', async (t) => {
  const { run } = someTree(t, {
    'code.ts': `export const more = 1\n`,
    'child.ts': `import { more } from './code.ts'\nfor (let n = 0; n < 2; n += more) {}\nconsole.log(more)`,
    'code.test.ts': `import assert from 'node:assert/strict'
      import { spawnSync } from 'node:child_process'
      import test from 'node:test'
      import './code.ts'
      test('counts', () => assert.equal(spawnSync(process.execPath, [new URL('child.ts', import.meta.url).pathname]).stdout.toString(), '1\\n'))`,
  })

  const {
    rows: [row],
  } = await run()

  assert.deepEqual(
    row?.outcomes.map(({ mutant, noticedBy }) => [mutant.is, noticedBy?.replace(/\d+ s$/, 'n s')]).toSorted(),
    [
      ['0', 'no end within n s'],
      ['2', 'counts'],
    ],
  )
})

test('a fault meets the tests of every row that rests on its code', async (t) => {
  const { run } = someTree(t, {
    'code.ts': code,
    'code.test.ts': weakTest,
    'bound.test.ts': weakTest.replaceAll('20', '18').replaceAll('member of twenty', 'member of eighteen'),
  })
  const place = (only: string[]) => [{ file: 'code.ts', only }]
  const table = [
    { codes: ['A01'], places: place([]), tests: ['code.test.ts'] },
    { codes: ['A02'], places: place(['mayEnter']), tests: ['bound.test.ts'] },
    { codes: ['A03'], places: place(['untested']), tests: ['missing.test.ts'] },
  ]

  const mutated = await run({ table })

  const bound = mutated.rows[0]?.outcomes.filter(({ mutant }) => mutant.is === '19' || mutant.is === '>')
  assert.deepEqual(
    bound?.map(({ noticedBy, reached }) => [noticedBy, reached]),
    [
      ['a member of eighteen may enter', 2],
      ['a member of eighteen may enter', 2],
    ],
  )
})

test('the same seed plants the same faults, and a row has no more than its sample', async (t) => {
  const { run } = someTree(t, { 'code.ts': code, 'code.test.ts': weakTest })
  const faults = async (seed: string) =>
    (await run({ seed, sample: 2 })).rows.flatMap(({ outcomes }) =>
      outcomes.map(({ mutant }) => `${mutant.was} ${mutant.is}`),
    )

  const [first, again] = [await faults('a'), await faults('a')]

  assert.equal(first.length, 2)
  assert.deepEqual(first, again)
})

test('a test that fails without a fault takes no part, and is named', async (t) => {
  const broken = weakTest.replace('(20, true), true', '(20, true), false')
  const { run } = someTree(t, { 'code.ts': code, 'code.test.ts': broken })

  const mutated = await run()

  assert.deepEqual(mutated.broken, ['code.test.ts: a member of twenty may enter'])
  assert.equal(mutated.rows[0]?.outcomes.filter(({ noticedBy }) => noticedBy !== null).length, 0)
})

test('a run is kept when 95 % are noticed and each survivor is explained', async (t) => {
  const { run } = someTree(t, { 'code.ts': code, 'code.test.ts': weakTest })
  const { rows } = await run()
  const all = rows.flatMap(({ outcomes }) => outcomes)
  const noticed = all.filter(({ noticedBy }) => noticedBy !== null)
  const survivor = all.find(({ mutant }) => mutant.is === '19')
  assert.ok(survivor && noticed[0])
  const [one] = noticed
  const outcomes = [...Array.from({ length: 19 }, () => ({ ...one, mutant: { ...one.mutant } })), survivor]
  const explained = { file: 'code.ts', where: survivor.mutant.where, was: '18', is: '19', why: 'for the test' }

  const verdicts = [
    judge({ rows: [{ codes: ['A01'], outcomes }], broken: [] }, [explained]),
    judge({ rows: [{ codes: ['A01'], outcomes }], broken: [] }, []),
    judge({ rows: [{ codes: ['A01'], outcomes: outcomes.slice(1) }], broken: [] }, [explained]),
    judge({ rows: [{ codes: ['A01'], outcomes }], broken: ['code.test.ts: fails'] }, [explained]),
  ]

  assert.deepEqual(
    verdicts.map(({ isKept }) => isKept),
    [true, false, false, false],
  )
  assert.match(verdicts[0]?.table ?? '', /^\| `A01` \| 20 \| 19 \| 1 \|$/m)
  assert.match(verdicts[1]?.survivors ?? '', /code\.ts:2, run by 1 test files\n {2}\{"file":"code\.ts"/)
})

test('what a test run started does not outlive the tool, also when that is killed', async (t) => {
  const { root } = someTree(t, {
    'waits.mjs': `import { writeFileSync } from 'node:fs'
      import test from 'node:test'
      writeFileSync('pid', String(process.pid))
      test('waits', () => new Promise(() => setInterval(() => {}, 1000)))`,
  })
  const main = `import { runTestFile } from ${JSON.stringify(join(import.meta.dirname, 'test-run.ts'))}
    console.log('started')
    await runTestFile('waits.mjs', { cwd: ${JSON.stringify(root)}, env: process.env, limitMs: 60_000 })`
  const tool = spawn(process.execPath, ['--input-type=module', '-e', main], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(createInterface({ input: tool.stdout }), 'line')
  const isThere = () => {
    try {
      return process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 0)
    } catch {
      return false
    }
  }
  await until(isThere, 'the test never started')

  tool.kill('SIGKILL')

  await until(() => !isThere(), 'the test process is still there')
})

async function until(holds: () => boolean, otherwise: string): Promise<void> {
  for (const end = performance.now() + 20_000; !holds(); await sleep(20)) assert.ok(performance.now() < end, otherwise)
}

/** A folder with these files, in which faults are planted in code.ts. */
function someTree(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'bw-tree-'))
  const folder = mkdtempSync(join(tmpdir(), 'bw-faults-'))
  t.after(() => {
    for (const each of [root, folder]) rmSync(each, { recursive: true })
  })
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files }))
    writeFileSync(join(root, name), text)
  mkdirSync(join(folder, 'tmp'))
  const tidied: string[] = []
  const rows: Promised[] = [{ codes: ['A01'], places: [{ file: 'code.ts', only: [] }], tests: ['code.test.ts'] }]
  const run = (options: { seed?: string; sample?: number; table?: typeof rows } = {}) =>
    mutate({
      root,
      folder,
      env: { ...process.env },
      rows,
      table: rows,
      seed: 'a',
      sample: 100,
      atOnce: 2,
      tidy: async (prefix) => void tidied.push(prefix),
      tell: () => {},
      extraMs: 2_000,
      ...options,
    })
  return { root, run, tidied }
}
