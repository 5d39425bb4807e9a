import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A page of the site. `file`: its path in the repository; `name`: its address below /guides, '' for the first page. */
export type Page = { file: string; name: string; title: string; text: string; pictures: readonly Picture[] }

/** A picture that a page shows. `file`: its path in the repository; `asset`: its name on the site, which changes with its content. */
export type Picture = { file: string; asset: string; bytes: Buffer }

/** What is shown: the documents, and two pages that are kept beside their code. */
const patterns = ['docs/**/*.md', 'packages/client/README.md', 'CHANGELOG.md']
/** The list of the portal's pictures is for readers of the repository. */
const leftOut = /^docs\/images\//

/** Every page of the site, in the order of their files. Throws when two would have the same address. */
export function readPages(root: string): Page[] {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort())
  const pages = files
    .filter((file) => !leftOut.test(file))
    .map((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return { file, name: nameOf(file), title: titleOf(file, text), text, pictures: picturesOf(root, file, text) }
    })
  for (const [name, same] of Map.groupBy(pages, (page) => page.name)) {
    if (same.length > 1) {
      throw new Error(
        `${same.map(({ file }) => file).join(' and ')} have the same address: /guides/${name}. Rename one.`,
      )
    }
  }
  return pages
}

/** The address of a page, as links say it. */
export function addressOf({ name }: Pick<Page, 'name'>): string {
  return name === '' ? '/guides' : `/guides/${name}`
}

/** The name of a file below /guides/assets: browsers keep it, so it changes with the content. */
export function assetName(name: string, bytes: string | Buffer): string {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 10)
  return name.replace(/(?=\.\w+$)/, `-${hash}`)
}

/** The address of a page's Markdown. */
export function markdownAddressOf({ name }: Pick<Page, 'name'>): string {
  return `/guides/${name || 'index'}.md`
}

/**
 * Where a link or a picture of a page leads on the site. An address outside and a place on the same page stay as they are; null for a file of the
 * repository that the site does not have.
 */
export function targetOf(page: Page, href: string, pages: readonly Page[]): string | null {
  if (/^[a-z]+:|^[/#]/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const file = join(dirname(page.file), path)
  const picture = page.pictures.find((each) => each.file === file)
  if (picture) return `/guides/assets/${picture.asset}`
  const target = pages.find((each) => each.file === file)
  return target ? `${addressOf(target)}${anchor ? `#${anchor}` : ''}` : null
}

/** Guides have short addresses: folders do not show, except that of the decisions. */
function nameOf(file: string): string {
  if (file === 'CHANGELOG.md') return 'changelog'
  if (file === 'packages/client/README.md') return 'client'
  const path = file.replace(/^docs\//, '').replace(/\.md$/, '')
  if (path === 'README') return ''
  if (path.endsWith('/README')) return path.replace(/\/README$/, '')
  return path.startsWith('decisions/') ? path : path.replace(/^.*\//, '')
}

function picturesOf(root: string, page: string, text: string): Picture[] {
  return [...text.matchAll(/!\[[^\]]*\]\(([^):\s]+)\)/g)].map(([, path = '']) => {
    const file = join(dirname(page), path)
    if (!existsSync(join(root, file))) throw new Error(`${page} shows ${path}, and there is no such picture.`)
    const bytes = readFileSync(join(root, file))
    return { file, asset: assetName(basename(file), bytes), bytes }
  })
}

function titleOf(file: string, text: string): string {
  const title = /^# (.+)$/m.exec(text)?.[1]
  if (!title) throw new Error(`${file} has no title: begin it with a line "# Title".`)
  return title.replaceAll('`', '')
}
