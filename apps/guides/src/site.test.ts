import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { problems } from '@bridgework/contract'
import { buildSite, readSite } from './build.ts'
import { documentOf } from './document.ts'
import { addressOf, readPages } from './pages.ts'
import { type RenderedPage, siteMarkdown } from './render.ts'

const root = join(import.meta.dirname, '../../..')
/** What guides may link to beside guides. */
const served = ['/', '/docs', '/favicon.svg']

test('every link of the guides leads to a page, and to a heading or a table row that is on it', () => {
  assert.deepEqual(brokenLinks(readSite(root).rendered), [])
})

test('docs/README.md lists every page outside the decisions, once', () => {
  const { pages, menu } = readSite(root)
  const listed = menu.flatMap(({ items }) => items.map(({ page }) => page))
  const missing = pages.filter(
    (page) => page.name !== '' && !page.name.startsWith('decisions/') && !listed.includes(page),
  )
  assert.deepEqual(
    missing.map(
      ({ file }) => `${file} is not in docs/README.md: add "- [Title](path): what it is about" to a list there`,
    ),
    [],
  )
  assert.equal(new Set(listed).size, listed.length)
  assert.ok(menu.every(({ items }) => items.every(({ about }) => about !== '')))
})

test('every error code and every heading has a place that a link can lead to', () => {
  const errors = readSite(root).rendered.find(({ page }) => page.name === 'errors')
  for (const code of Object.keys(problems)) assert.ok(errors?.ids.has(code), code)
  assert.ok(errors?.ids.has('the-order-of-checks'))
})

test('no page has a style or a script that the content policy refuses', () => {
  const { rendered, menu } = readSite(root)
  const assets = { style: '/guides/assets/a.css', scheme: '/guides/assets/b.js', script: '/c.js', search: '/d.json' }
  for (const each of rendered) {
    const html = documentOf(each, menu, assets)
    assert.doesNotMatch(html, /<style|<[^>]* style=|<[^>]* on\w+=|<script(?![^>]* src="\/)/, each.page.file)
    assert.doesNotMatch(html, /<(?:script|link|img)[^>]* (?:src|href)="(?!\/)/, each.page.file)
  }
})

test('what a link says that leads nowhere names the page, the link and what is missing', (t) => {
  const { rendered } = readSite(
    someRepository(t, {
      'docs/README.md': '# Guides\n\n## All\n\n- [One](guides/limits.md): first\n',
      'docs/guides/limits.md':
        '# One\n\n[two](freshness.md#there) [gone](/guides/gone) [lost](freshness.md#lost) [code](../../main.ts)\n',
      'docs/guides/freshness.md': '# Two\n\n## There\n',
    }),
  )
  assert.deepEqual(brokenLinks(rendered), [
    'docs/guides/limits.md links to /guides/gone, and there is no such page.',
    'docs/guides/limits.md links to /guides/freshness#lost, and docs/guides/freshness.md has no heading or table row "lost".',
  ])
  const one = rendered.find(({ page }) => page.name === 'limits')
  assert.match(one?.html ?? '', /<a href="\/guides\/freshness#there">two<\/a>.* code</)
})

test('a page shows its pictures, which have names of their content, and a picture that is missing is named', (t) => {
  const files = {
    'docs/README.md': '# Guides\n\n## All\n\n- [Speed](performance.md): how fast it is\n',
    'docs/performance.md': '# Speed\n\n![Pages a second](images/page.svg)\n',
  }
  const site = temporaryFolder(t)
  buildSite(someRepository(t, { ...files, 'docs/images/page.svg': '<svg>one</svg>' }), site)
  const [, asset = ''] =
    /<img src="\/guides\/(assets\/page-[\w-]{10}\.svg)" alt="Pages a second" loading="lazy">/.exec(
      readFileSync(join(site, 'pages/performance.html'), 'utf8'),
    ) ?? []
  assert.equal(readFileSync(join(site, asset), 'utf8'), '<svg>one</svg>')
  assert.match(readFileSync(join(site, 'pages/performance.md'), 'utf8'), new RegExp(`]\\(/guides/${asset}\\)`))

  const other = temporaryFolder(t)
  buildSite(someRepository(t, { ...files, 'docs/images/page.svg': '<svg>two</svg>' }), other)
  assert.equal(existsSync(join(other, asset)), false)
  assert.throws(
    () => readPages(someRepository(t, files)),
    /docs\/performance\.md shows images\/page\.svg, and there is no/,
  )
})

test('two pages with one address, a page without a title and a repository without a menu are refused by name', (t) => {
  const menu = { 'docs/README.md': '# Guides\n' }
  const both = { ...menu, 'docs/errors.md': '# A\n', [`docs/operate/${'errors'}.md`]: '# B\n' }
  assert.throws(
    () => readPages(someRepository(t, both)),
    /docs\/errors\.md and docs\/operate\/errors\.md .*\/guides\/errors\. Rename/,
  )
  assert.throws(
    () => readPages(someRepository(t, { ...menu, 'docs/errors.md': 'text\n' })),
    /docs\/errors\.md has no title/,
  )
  assert.throws(() => readSite(someRepository(t, { 'docs/errors.md': '# A\n' })), /docs\/README\.md is missing/)
})

test('the Markdown of a page links to the Markdown of others, and its code stays as it is', (t) => {
  const pages = readPages(
    someRepository(t, {
      'docs/README.md': '# Guides\n',
      'docs/guides/limits.md':
        '# One\n\n[home](../README.md) [row](../errors.md#busy) [here](#one)\n\n```md\n[kept](../errors.md)\n```\n',
      'docs/errors.md': '# Errors\n',
    }),
  )
  const one = pages.find(({ name }) => name === 'limits')
  assert.ok(one)
  assert.equal(
    siteMarkdown(one, pages),
    '# One\n\n[home](/guides/index.md) [row](/guides/errors.md#busy) [here](#one)\n\n```md\n[kept](../errors.md)\n```\n',
  )
})

test('the same documents are built into the same bytes: pages, their Markdown, and what they load', (t) => {
  const repository = someRepository(t, {
    'docs/README.md': '# Guides\n\n## All\n\n- [Errors](errors.md): every code\n',
    'docs/errors.md': '# Errors\n\n| code | what to do |\n| --- | --: |\n| `busy` | wait |\n',
  })
  const [one, other] = [temporaryFolder(t), temporaryFolder(t)]
  buildSite(repository, one)
  buildSite(repository, other)
  const files = readdirSync(one, { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => /\.\w+$/.test(name))) {
    assert.ok(readFileSync(join(one, file)).equals(readFileSync(join(other, file))), file)
  }
  const page = readFileSync(join(one, 'pages/errors.html'), 'utf8')
  assert.match(page, /<tr id="busy">\s*<td><code>busy<\/code><\/td>\s*<td class="to-right">wait<\/td>/)
  assert.match(page, /<a href="\/guides\/errors" aria-current="page">Errors<\/a>/)
  assert.ok(files.includes('pages/errors.md.br'))
  assert.match(readFileSync(join(one, 'llms.txt'), 'utf8'), /^- \[Errors\]\(\/guides\/errors\.md\): every code$/m)
})

/** The links between pages that lead to no page, or to no place on it. */
function brokenLinks(rendered: readonly RenderedPage[]): string[] {
  const byAddress = new Map(rendered.map((each) => [addressOf(each.page), each]))
  return rendered.flatMap(({ page, html }) =>
    [...html.matchAll(/ href="([^"]*)"/g)].flatMap(([, href = '']) => {
      const [path = '', anchor] = decodeURI(href).split('#')
      if (/^[a-z]+:/.test(href) || served.includes(path)) return []
      const target = byAddress.get(path === '' ? addressOf(page) : path)
      if (!target) return [`${page.file} links to ${href}, and there is no such page.`]
      if (anchor === undefined || target.ids.has(anchor)) return []
      return [`${page.file} links to ${href}, and ${target.page.file} has no heading or table row "${anchor}".`]
    }),
  )
}

function someRepository(t: TestContext, files: Record<string, string>): string {
  const folder = temporaryFolder(t)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-guides-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
