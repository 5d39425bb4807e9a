import type { Menu } from './menu.ts'
import { addressOf, markdownAddressOf, type Page } from './pages.ts'
import type { RenderedPage } from './render.ts'

/** Addresses of the files that every page loads. */
export type Assets = { style: string; scheme: string; script: string; search: string }

/** The whole document of a page: menu, text, and the list of its headings. */
export function documentOf({ page, html, headings }: RenderedPage, menu: Menu, assets: Assets): string {
  const order = menu.flatMap(({ items }) => items)
  const at = order.findIndex((item) => item.page === page)
  const before = at > 0 ? order[at - 1] : undefined
  const next = at >= 0 ? order[at + 1] : undefined
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Bridgework</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="alternate" href="${markdownAddressOf(page)}" type="text/markdown">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.scheme}"></script>
<script type="module" src="${assets.script}"></script>
</head>
<body data-search="${assets.search}">
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="brand" href="/guides"><img src="/favicon.svg" width="28" height="28" alt="">Bridgework <span>Guides</span></a>
<form role="search" hidden>
<label for="query">Search the guides</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" aria-controls="found">
<div id="found" hidden><p role="status"></p><ul></ul></div>
</form>
<nav aria-label="Bridgework"><a href="/docs">API reference</a><a href="/">Portal</a></nav>
<button type="button" id="scheme" hidden></button>
</header>
<div class="columns">
<nav class="menu" aria-label="Guides"><details><summary>Menu</summary>
${menu.map((section) => menuSection(section, page)).join('\n')}
</details></nav>
<main id="text" tabindex="-1">
<article>
${html}</article>
<footer>
${before || next ? `<nav aria-label="Previous and next page">${step('Previous', 'prev', before)}${step('Next', 'next', next)}</nav>\n` : ''}<p><a href="${markdownAddressOf(page)}">This page as Markdown</a></p>
</footer>
</main>
${headings.length > 1 ? headingList(headings) : ''}</div>
</body>
</html>
`
}

function menuSection({ title, items }: Menu[number], current: Page): string {
  const links = items.map(({ page, label }) => {
    const isCurrent = page === current || (page.name === 'decisions' && current.name.startsWith('decisions/'))
    return `<li><a href="${addressOf(page)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a></li>`
  })
  return `<p>${escapeHtml(title)}</p>\n<ul>${links.join('')}</ul>`
}

function step(label: string, rel: string, item: Menu[number]['items'][number] | undefined): string {
  if (!item) return ''
  return `<a class="${rel}" rel="${rel}" href="${addressOf(item.page)}"><span>${label}</span>${escapeHtml(item.label)}</a>`
}

function headingList(headings: RenderedPage['headings']): string {
  const links = headings.map(({ id, heading }) => `<li><a href="#${id}">${escapeHtml(heading)}</a></li>`)
  return `<nav class="headings" aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav>\n`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
