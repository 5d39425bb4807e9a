import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import MiniSearch from 'minisearch'
import { documentOf } from './document.ts'
import { type Menu, readMenu } from './menu.ts'
import { addressOf, assetName, markdownAddressOf, type Page, readPages } from './pages.ts'
import { type RenderedPage, renderPage, siteMarkdown } from './render.ts'

const assetsDir = join(import.meta.dirname, '../assets')

/** The pages and the menu of the repository at `root`. Throws where docs/README.md, which lists them, is missing. */
export function readSite(root: string): { pages: Page[]; rendered: RenderedPage[]; menu: Menu } {
  const pages = readPages(root)
  const home = pages.find(({ name }) => name === '')
  if (!home) throw new Error('docs/README.md is missing: it lists the pages.')
  return { pages, rendered: pages.map((page) => renderPage(page, pages)), menu: readMenu(home, pages) }
}

/** Writes the site into an empty folder: each page as HTML and as Markdown, llms.txt, and below assets/ what the pages load. */
export function buildSite(root: string, to: string): void {
  const { pages, rendered, menu } = readSite(root)
  const asset = (name: string, bytes: string): string => {
    const file = assetName(name, bytes)
    write(to, `assets/${file}`, bytes)
    return `/guides/assets/${file}`
  }
  const source = (name: string) => readFileSync(join(assetsDir, name), 'utf8')
  const library = readFileSync(fileURLToPath(import.meta.resolve('minisearch')), 'utf8').replace(
    /^\/\/# source.*$/m,
    '',
  )
  const assets = {
    style: asset('guides.css', source('text.css') + source('frame.css')),
    scheme: asset('scheme.js', source('scheme.js')),
    search: asset('search.json', searchIndex(rendered)),
    script: asset('guides.js', source('guides.js').replace("'minisearch'", `'${asset('minisearch.js', library)}'`)),
  }
  for (const { asset, bytes } of pages.flatMap(({ pictures }) => pictures)) write(to, `assets/${asset}`, bytes)
  for (const each of rendered) {
    const name = each.page.name || 'index'
    write(to, `pages/${name}.html`, documentOf(each, menu, assets))
    write(to, `pages/${name}.md`, siteMarkdown(each.page, pages))
  }
  write(to, 'llms.txt', overview(menu))
}

/** What an assistant reads first (llmstxt.org). Addresses begin at the root of the service. */
function overview(menu: Menu): string {
  const sections = menu.map(({ title, items }) => {
    const lines = items.map(
      ({ page, label, about }) => `- [${label}](${markdownAddressOf(page)})${about ? `: ${about}` : ''}`,
    )
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return `# Bridgework

> Bridgework connects dental practices with the software vendors they work with. Vendors read, over one HTTP/JSON API, what a practice granted.

Every page below /guides is Markdown with ".md" at the end of its address. The vendor API is described by
[OpenAPI](/api/v1/vendors/openapi.json).

${sections.join('\n')}`
}

/** What a search looks in, with the options that it was made with. */
function searchIndex(rendered: readonly RenderedPage[]): string {
  const options = { fields: ['heading', 'page', 'text'], storeFields: ['page', 'heading', 'about'] }
  const index = new MiniSearch(options)
  // Without the decisions: they would be most of what is found.
  const searched = rendered.filter(({ page }) => !page.name.startsWith('decisions/'))
  index.addAll(
    searched.flatMap(({ page, sections }) =>
      sections.map(({ id, heading, text }) => ({
        id: `${addressOf(page)}${id === '' ? '' : `#${id}`}`,
        page: page.title,
        heading,
        text,
        about: text.slice(0, 140),
      })),
    ),
  )
  return JSON.stringify({ options, index })
}

/** Packed here once, and not at every answer. */
function write(to: string, name: string, text: string | Buffer): void {
  const file = join(to, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  writeFileSync(`${file}.br`, brotliCompressSync(text))
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }))
}
