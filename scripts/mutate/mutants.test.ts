import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { parseSync } from 'oxc-parser'
import { applied } from './change.ts'
import { mutantsOf, oneLine } from './mutants.ts'

test('faults are planted in comparisons, logic, conditions, steps, values and constants', (t) => {
  const code = `export async function enter(age: number, names: string[]): Promise<boolean> {
  if (age <= 17 && !names.includes('x')) throw new Problem('too young')
  await check(age)
  await record(names.filter((name) => name !== ''))
  count += 1
  await save(client, count)
  return (await find(age)) ?? false
}`

  const found = faultsIn(t, code)

  for (const fault of [
    '2 <= → <',
    '2 <= → >',
    '2 17 → 18',
    '2 17 → 16',
    '2 && → ||',
    '2 ! → ',
    `2 'x' → ''`,
    `2 age <= 17 && !names.includes('x') → true`,
    `2 age <= 17 && !names.includes('x') → false`,
    `2 throw new Problem('too young') → ;`,
    '3 await check(age) → ;',
    '3 await → ',
    `3 await check(age) await record(names.filter((name) => name !== '')) → await record(names.filter((name) => name !== '')) await check(age)`,
    `4 (name) => name !== '' → () => true`,
    '4 !== → ===',
    '5 count += 1 → ;',
    '5 += → -=',
    '6 await save(client, count) → ;',
    '7 (await find(age)) ?? false → null',
    '7 ?? → &&',
    '7 false → true',
  ])
    assert.ok(found.includes(fault), `${fault}\n${found.join('\n')}`)
  assert.ok(!found.includes('6 await → '), 'the statements of one connection have an order')
})

test('faults are planted in SQL: comparisons, conditions, locks, defaults, bounds and orders; not in what it assigns or in its texts', (t) => {
  const code = `export const rows = (db: Db) => db.query(\`
    update turn set state = 'open', moved_at = greatest($2, now())
     where id = $1 and moved_at < $2 + interval '1 microsecond' and kind in ('a', 'b') -- and this = that\`)
export const locked = \`select coalesce(max(n), 0) from t where a between 1 and 2 or (b is null and c = any($3)) order by a limit $4 for update skip locked\``

  const found = faultsIn(t, code)

  assert.deepEqual(
    found.toSorted(),
    [
      '2 greatest → least',
      '3 + → -',
      "3 '1 microsecond' → '2 microsecond'",
      '3 < → <=',
      '3 < → >=',
      '3 = → <>',
      '3 and → or',
      '3 and → or',
      "3 and kind in ('a', 'b') → ",
      "3 and moved_at < $2 + interval '1 microsecond' → ",
      '3 id = $1 → true',
      '3 in → not in',
      '4  →  desc',
      '4 $4 → $4 + 1',
      '4 0 → 1',
      '4 1 → 2',
      '4 2 → 3',
      '4 = any → <> all',
      '4 a between 1 and 2 → true',
      '4 and → or',
      '4 and c = any($3) → ',
      '4 coalesce(max(n), 0) → (max(n))',
      '4 for update skip locked → ',
      '4 is → is not',
      '4 limit $4 → ',
      '4 max → min',
      '4 or → and',
      '4 or (b is null and c = any($3)) → ',
      '4 skip locked → ',
    ].toSorted(),
  )
})

test('no fault is planted in types, imports, logs, texts for people, invariants, and what removes files or ends processes', (t) => {
  const code = `import { log, rmSync } from './parts.ts'
export type Age = 1 | 2
export function end(context: { log: (event: object) => void; path: string }, { limitMs = 500 } = {}) {
  context.logNotes.records = 3
  context.log({ event: 'ended', count: 1 })
  console.error(\`ended at \${1 + 1}\`)
  if (process.env.HOME === context.path) rmSync(context.path, { recursive: true })
  if (context.path === '') throw new Error('there is always a path')
  const first = rows[context.path]?.id ?? ''
  const refusals = { TOO_LATE: { errors: 'Sign in again.' } }
  const text = first.toString().concat(first.valueOf())
  return { because: 'it is over', name: 'statement' } satisfies object as { because: 'it is over' }
}`

  assert.deepEqual(faultsIn(t, code), [])
})

test('a function can be named, and must exist', (t) => {
  const code = 'export function one() {\n  return f() > 1\n}\nconst two = () => f() > 2'

  assert.ok(faultsIn(t, code, ['two']).every((fault) => fault.startsWith('4 ')))
  assert.throws(() => faultsIn(t, code, ['three']), /nothing to mutate that is called three/)
})

test('each fault is a program that can be parsed', () => {
  const root = join(import.meta.dirname, '../..')
  const file = 'scripts/mutate/mutants.ts'
  const text = mutantsOf(root, file)
  assert.ok(text.length > 100)
  const source = mutantsOf(root, file).map((mutant) => ({
    mutant,
    code: applied(readFileSync(join(root, file), 'utf8'), mutant),
  }))
  assert.deepEqual(
    source
      .filter(({ code }) => parseSync(file, code).errors.length > 0)
      .map(({ mutant }) => `${mutant.line} ${mutant.was} → ${mutant.is}`),
    [],
  )
})

/** `line was → is` of each fault that can be planted in a file of this code. */
function faultsIn(t: TestContext, code: string, only: readonly string[] = []): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bw-mutants-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'code.ts'), code)
  return mutantsOf(folder, 'code.ts', only).map(
    ({ line, was, is }) => `${line} ${was} → ${is === ' desc' ? is : oneLine(is)}`,
  )
}
