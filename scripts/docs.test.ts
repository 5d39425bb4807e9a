import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { problems } from '../packages/contract/src/problems.ts'
import { carriedCodes, citedCodes, notYet } from './row-codes.ts'

const root = join(import.meta.dirname, '..')
const pages = files('{*.md,{apps,packages,bench,docs}/**/*.md}')
const catalogues = ['docs/security.md', 'docs/conformance.md', 'docs/hipaa.md']
const carried = carriedCodes()

test('docs/errors.md lists every code with its status and text, and no other', () => {
  const page = read('docs/errors.md')
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| `(.+?)` \| (.*) \|$/gm)]
  const documented = Object.fromEntries(
    listed.map(([, code = '', status, errors]) => [code, { status: Number(status), errors }]),
  )
  assert.deepEqual(documented, problems)
  assert.equal(listed.length, Object.keys(problems).length, 'each once')
  assert.deepEqual(
    listed.filter(([, , , , todo]) => (todo ?? '') === ''),
    [],
    'each says what to do',
  )
})

test('a retired code is not used again', () => {
  const [, retired = ''] = read('docs/errors.md').split('## Retired codes')
  const codes = [...retired.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code ?? '')
  assert.ok(codes.length > 0)
  assert.deepEqual(
    codes.filter((code) => code in problems),
    [],
  )
})

for (const page of catalogues) {
  test(`every row code that ${page} cites is carried by a test or a soak row`, () => {
    const [text = ''] = read(page).split(notYet)
    const cited = citedCodes(text)
    assert.ok(cited.length > 10)
    assert.deepEqual(
      cited.filter((code) => !carried.has(code)),
      [],
    )
  })
}

test('every row code that a test carries is explained in a document', () => {
  const explained = new Set([...catalogues, 'bench/README.md'].flatMap((page) => citedCodes(read(page))))
  assert.deepEqual(
    [...carried].filter((code) => !explained.has(code)),
    [],
  )
})

test('what docs/security.md says is not tested yet is not tested yet', () => {
  const [, waiting = ''] = read('docs/security.md').split(notYet)
  assert.ok(waiting !== '')
  assert.deepEqual(
    citedCodes(waiting).filter((code) => carried.has(code)),
    [],
  )
})

test('docs/operate/settings.md lists every setting of the server, and no other', () => {
  const [, list = ''] = /const settingNames[^[]*\[([^\]]*)\]/.exec(read('apps/server/src/config.ts')) ?? []
  const known = [...list.matchAll(/'(BRIDGEWORK_\w+)'/g)].map(([, name]) => name)
  const listed = [...read('docs/operate/settings.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  assert.ok(known.length > 10)
  assert.deepEqual(listed.toSorted(), [...known, 'DATABASE_URL'].toSorted())
})

test('the list of decisions has every page', () => {
  const decisions = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')
  const listed = [...read('docs/decisions/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name)
  assert.deepEqual(listed.toSorted(), decisions.toSorted())
})

test('a page of a decision begins with the decision, and has at most 60 lines', () => {
  const decisions = pages.filter((page) => page.startsWith('docs/decisions/') && !page.endsWith('/README.md'))
  assert.ok(decisions.length > 60)
  const faults = decisions.flatMap((page) => {
    const lines = read(page).trimEnd().split('\n')
    const isBegun = lines[2]?.startsWith('**Decision.** ') ?? false
    return [
      ...(isBegun ? [] : [`${page}: begin it with "**Decision.** …" below the title`]),
      ...(lines.length <= 60 ? [] : [`${page}: ${lines.length} lines. Split it, or move figures to bench/log/`]),
    ]
  })
  assert.deepEqual(faults, [])
})

test('every link to a heading leads to one', () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s:]*)#([^)\s]+)\)/g)]
      .filter(([, path = '', anchor = '']) => {
        const target = path === '' ? page : join(dirname(page), path)
        return !anchorsOf(target).includes(anchor)
      })
      .map(([link]) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

// A table row cannot break, so it gets more; past that it should be a list. Code, and a single word, cannot break either.
test('lines of documents have at most 120 columns, table rows at most 300', () => {
  const long = pages
    .filter((page) => page !== 'docs/specification.md') // verbatim
    .flatMap((page) =>
      read(page)
        .replace(/^```[\s\S]*?^```/gm, (code) => code.replace(/.+/g, ''))
        .split('\n')
        .map((line, index) => ({ at: `${page}:${index + 1}`, line, columns: line.length }))
        .filter(
          ({ line, columns }) => columns > (line.startsWith('|') ? 300 : 120) && /\S\s+\S/.test(withoutMark(line)),
        )
        .map(({ at, columns }) => `${at}: ${columns}`),
    )
  assert.deepEqual(long, [])
})

/** The anchors that GitHub gives a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = read(page).matchAll(/^#{1,6} (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** A line without its indentation and the mark of a list. */
function withoutMark(line: string): string {
  return line.replace(/^\s*(?:[-*]|\d+\.)?\s*/, '')
}

function files(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', '**/coverage/**'] }).sort()
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
