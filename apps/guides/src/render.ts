import MarkdownIt, { type Token } from 'markdown-it'
import { type Page, targetOf } from './pages.ts'

/** A heading, or a row of a table that begins with a name in code quotes, with the text below it: what a search finds. */
export type Section = { id: string; heading: string; text: string }

/** `ids`: every place that a link can lead to. `headings`: those of the second level, for the list beside the page. */
export type RenderedPage = {
  page: Page
  html: string
  ids: ReadonlySet<string>
  headings: Section[]
  sections: Section[]
}

const markdown = new MarkdownIt({ html: false })

/**
 * A page as HTML without styles and scripts in it, because the content policy lets in none. Headings have the ids that GitHub gives them. A table row
 * that begins with a name in code quotes has that name as its id: an error code, a setting.
 */
export function renderPage(page: Page, pages: readonly Page[]): RenderedPage {
  const tokens = markdown.parse(page.text, {})
  const ids = new Set<string>()
  const sections: Section[] = [{ id: '', heading: page.title, text: '' }]
  const headings: Section[] = []
  const named = new Map<Token, Section>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const heading = textOf(tokens[index + 1])
    const id = freeId(slugOf(heading), ids)
    ids.add(id)
    token.attrSet('id', id)
    named.set(token, { id, heading, text: '' })
  }
  for (const [index, token] of tokens.entries()) {
    const heading = named.get(token)
    if (heading && token.tag !== 'h1') {
      sections.push(heading)
      if (token.tag === 'h2') headings.push(heading)
    }
    if (token.type === 'tr_open') {
      const id = rowName(tokens[index + 2])
      if (id !== null && !ids.has(id)) {
        ids.add(id)
        token.attrSet('id', id)
        sections.push({ id, heading: id, text: '' })
      }
    }
    // A heading without words is none.
    if (token.type === 'th_open' && tokens[index + 1]?.content === '') {
      for (const part of [token, tokens[index + 2]]) if (part) part.tag = 'td'
    }
    if (token.type === 'inline' || token.type === 'fence') {
      const section = sections.at(-1)
      if (section && section.heading !== textOf(token)) section.text += `${textOf(token)} `
    }
    moveStyles(token)
    if (token.type === 'inline') token.children = linked(token.children ?? [], page, pages)
  }
  return { page, html: scrollable(markdown.renderer.render(tokens, markdown.options, {})), ids, headings, sections }
}

/** The text of a page as Markdown whose links lead to the Markdown of other pages. */
export function siteMarkdown(page: Page, pages: readonly Page[]): string {
  return page.text
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replace(/\]\(([^)\s]+)\)/g, (_link, href: string) => {
            const [path = '', anchor] = (targetOf(page, href, pages) ?? href).split('#')
            const isPage = /^\/guides(?!\/assets\/)(\/|$)/.test(path)
            const target = isPage ? `${path === '/guides' ? '/guides/index' : path}.md` : path
            return `](${target}${anchor === undefined ? '' : `#${anchor}`})`
          }),
    )
    .join('')
}

/** The id that GitHub gives a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')
}

function freeId(slug: string, ids: ReadonlySet<string>): string {
  let id = slug
  for (let count = 1; ids.has(id); count += 1) id = `${slug}-${count}`
  return id
}

/** The name that a row is about, when its first cell begins with one in code quotes. */
function rowName(cell: Token | undefined): string | null {
  const [first] = cell?.children ?? []
  return first?.type === 'code_inline' && /^[A-Za-z][\w.-]*$/.test(first.content) ? first.content : null
}

/** Links and pictures, each with its address on the site. What leads to no page is shown as its text. */
function linked(children: Token[], page: Page, pages: readonly Page[]): Token[] {
  let isLeftOut = false
  return children.filter((child) => {
    if (child.type === 'image') {
      child.attrSet('src', targetOf(page, String(child.attrGet('src') ?? ''), pages) ?? '')
      child.attrSet('loading', 'lazy')
    }
    if (child.type === 'link_open') {
      const target = targetOf(page, String(child.attrGet('href') ?? ''), pages)
      isLeftOut = target === null
      if (target !== null) child.attrSet('href', target)
      return !isLeftOut
    }
    return !(child.type === 'link_close' && isLeftOut)
  })
}

/** The columns' alignment as a class, because the policy refuses styles in attributes. */
function moveStyles(token: Token): void {
  const style = token.attrGet('style')
  if (style === null) return
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  token.attrJoin('class', String(style).replace('text-align:', 'to-'))
}

/** A wide table and long lines of code scroll by themselves, also with the keyboard, so that the page does not. */
function scrollable(html: string): string {
  return html
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="table" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
}

function textOf(token: Token | undefined): string {
  if (!token) return ''
  if (token.type === 'fence') return token.content
  return (token.children ?? []).map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('')
}
