import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..')
const sources = files('{apps,packages,bench,scripts}/**/*.{ts,tsx,mjs,js,sql}')
const pages = files('{*.md,{apps,packages,bench,docs}/**/*.md}')

// What Biome can say stands in biome.json: who reads the environment, import circles, who imports whom between packages and apps, how long a file
// is, and that no test is skipped or runs alone.

test('no SQL file is longer than 400 lines: it would hold two ideas', () => {
  // schema.sql is what a database program says of itself: ours to keep, not to shape. 0001_schema.sql is the schema of the first release: one
  // migration, in sections.
  const long = sources
    .filter((file) => file.endsWith('.sql') && !/\/(0001_)?schema\.sql$/.test(file))
    .map((file) => ({ file, lines: read(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > 400)
  assert.deepEqual(long, [])
})

test('a test that does not run says why, and none runs alone', () => {
  const silent = /\b(test|it|describe)\.todo\(|\b(only|todo): *true|\bskip: *true|\bt\.(skip|todo)\(\s*\)|--test-only/
  const isTest = (file: string) => file.endsWith('.test.ts') && file !== 'scripts/house-rules.test.ts'
  assert.deepEqual(linesWith(sources, silent, isTest), [])
})

test('nothing is left for later in a comment: it is done, or it is an issue', () => {
  const later = new RegExp(
    `\\b(${['TO', 'FIX', 'XX'].map((start, index) => start + ['DO', 'ME', 'X'][index]).join('|')})\\b`,
  )
  assert.deepEqual(linesWith([...sources, ...pages], later), [])
})

test('each name of a prepared statement stands for one statement: a connection refuses another under it', () => {
  const named = sources
    .filter((file) => file.startsWith('apps/server/src/') && !/(^|\/)test-|\.test\.ts$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/\bname: (['`])(.+?)\1,\s*text\b/g)].map(([, , name]) => ({ file, name })),
    )
  assert.ok(named.length > 15, `${named.length} statements`)
  const twice = named.filter(({ name }, index) => named.findIndex((other) => other.name === name) < index)
  assert.deepEqual(twice, [])
})

test('only one module of the server sends requests to addresses that customers enter', () => {
  // Others that send: to the operator's own collector of traces, and the sandbox to itself. The portal's script is for a browser.
  const senders = /^apps\/server\/src\/(platform\/(outgoing|traces)|sandbox)\/|modules\/attribution\/script\.ts$/
  const isServer = (file: string) =>
    file.startsWith('apps/server/src/') && !/(^|\/)test-|\.test\.ts$/.test(file) && !senders.test(file)
  const sends =
    /(?<![.\w])fetch\(|from '(node:)?(https|dns|dns\/promises|undici)'|import \{[^}]*\b(request|get|connect)\b[^}]*\} from 'node:(http|net)'/
  assert.deepEqual(linesWith(sources, sends, isServer), [])
})

test('X05: each connection of the server to its database begins with our settings: no other file opens one', () => {
  const isServer = (file: string) =>
    file.startsWith('apps/server/src/') &&
    !/(^|\/)test-|\.test\.ts$|\/platform\/database\/(hosts|pool|session|embedded\/connection)\.ts$/.test(file)
  assert.deepEqual(linesWith(sources, /new (pg\.)?(Pool|Client)\(/, isServer), [])
})

test('no port is made of a process id: test files that share a process would share the port, so freePort() gives it', () => {
  assert.deepEqual(
    linesWith(sources, /process\.pid\s*%/, (file) => file !== 'scripts/house-rules.test.ts'),
    [],
  )
})

test('every path that a page cites exists', () => {
  // A page of the log names the code of its time.
  const today = pages.filter((page) => !page.startsWith('bench/log/'))
  const gone = today.flatMap((page) =>
    citedPaths(read(page))
      .filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, dirname(page), path)))
      .map((path) => `${page}: ${path}`),
  )
  assert.deepEqual(gone, [])
})

test('every page that the code cites exists', () => {
  const gone = sources.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
      .map(([path]) => path)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`),
  )
  assert.deepEqual(gone, [])
})

test('what a publisher replaces is on one page', () => {
  const shipped = files('{*.md,{deploy,packages,apps}/**/{*.md,package.json,control,alerts.yaml}}')
  const named = shipped.filter((file) => /\bbridgework\.example\b(?!\.com)/.test(read(file)))
  const listed = [...read('docs/operate/publish.md').matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(.+?)`/g)].map(([, file]) => file),
  )
  assert.deepEqual(named.toSorted(), listed.toSorted())
})

test('actions of workflows are named by a commit: a tag can be moved to other code', () => {
  const uses = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((file) => [
    ...read(file).matchAll(/\buses: *(.+)$/gm),
  ])
  assert.ok(uses.length > 0)
  assert.deepEqual(
    uses
      .map(([, action = '']) => action)
      .filter((action) => !/^[\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    [],
  )
})

function files(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', '**/coverage/**'] }).sort()
}

function linesWith(
  among: readonly string[],
  pattern: RegExp,
  isMeant: (file: string) => boolean = () => true,
): string[] {
  return among.filter(isMeant).flatMap((file) =>
    read(file)
      .split('\n')
      .map((line, index) => ({ line, at: `${file}:${index + 1}` }))
      .filter(({ line }) => pattern.test(line))
      .map(({ at, line }) => `${at} ${line.trim()}`),
  )
}

/** Link targets within the project, and words in code quotes that begin like a path of ours. Patterns and placeholders are no paths. */
function citedPaths(text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !/^([a-z]+:|#)/.test(path))
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
  const paths = quoted.filter((word) => /^(apps|packages|bench|scripts|docs|\.ci)\/[\w./-]*$/.test(word))
  return [...links, ...paths].map((path) => path.replace(/#.*$/, '').replace(/:\d+$/, ''))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
