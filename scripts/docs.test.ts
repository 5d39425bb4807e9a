import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { problems } from '../packages/contract/src/problems.ts'

const root = join(import.meta.dirname, '..')

test('docs/errors.md lists every code with its status and text, and no other', () => {
  const page = read('docs/errors.md')
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| `(.+?)` \| (.*) \|$/gm)]
  const told = Object.fromEntries(
    listed.map(([, code = '', status, errors]) => [code, { status: Number(status), errors }]),
  )
  assert.deepEqual(told, problems)
  assert.equal(listed.length, Object.keys(problems).length, 'each once')
  assert.deepEqual(
    listed.filter(([, , , , todo]) => (todo ?? '') === ''),
    [],
    'each says what to do',
  )
})

test('a retired code is not given again', () => {
  const [, retired = ''] = read('docs/errors.md').split('## Retired codes')
  const codes = [...retired.matchAll(/`(\w+)`/g)].map(([, code]) => code ?? '')
  assert.deepEqual(
    codes.filter((code) => code in problems),
    [],
  )
})

for (const page of ['docs/conformance.md', 'docs/security.md', 'docs/hipaa.md']) {
  test(`every test that ${page} cites exists`, () => {
    const cited = [...read(page).matchAll(/`([\w./-]+\.test\.ts)` “([^”]+)”/g)]
    assert.ok(cited.length > 10)
    const gone = cited
      .filter(([, file = '', name = '']) => !existsSync(join(root, file)) || !namesOf(file).includes(name))
      .map(([citation]) => citation)
    assert.deepEqual(gone, [])
  })
}

test('the README tells every setting of the server, and none that there is not', () => {
  const [, list = ''] = /const settingNames[^[]*\[([^\]]*)\]/.exec(read('apps/server/src/config.ts')) ?? []
  const known = [...list.matchAll(/'(BRIDGEWORK_\w+)'/g)].map(([, name]) => name)
  const told = [...read('README.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  assert.ok(known.length > 10)
  assert.deepEqual(told.toSorted(), [...known, 'DATABASE_URL'].toSorted())
})

test('the list of decisions has every page', () => {
  const pages = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')
  const listed = [...read('docs/decisions/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name)
  assert.deepEqual(listed.toSorted(), pages.toSorted())
})

/** The names that tests and suites of a file are given as they are written. */
function namesOf(file: string): string[] {
  const calls = read(file).matchAll(/\b(?:test|it|describe)\(\s*(['`])((?:(?!\1).)*)\1/g)
  return [...calls].map(([, , name = '']) => name.replaceAll("\\'", "'"))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
