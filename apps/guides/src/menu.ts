import { dirname, join } from 'node:path'
import type { Page } from './pages.ts'

export type Menu = { title: string; items: { page: Page; label: string; about: string }[] }[]

/** The pages as docs/README.md lists them: below each heading, lines like "- [First sync](guides/first-sync.md): copy a practice's data". */
export function readMenu(home: Page, pages: readonly Page[]): Menu {
  const menu: Menu = []
  for (const block of home.text.split(/\n(?=## |- )/)) {
    const heading = /^## (.+)$/m.exec(block)?.[1]
    if (heading) menu.push({ title: heading, items: [] })
    const [, label = '', path = '', about = ''] =
      /^- \[([^\]]+)\]\(([^)]+)\)(?::\s+([\s\S]*))?$/.exec(block.trim()) ?? []
    const page = pages.find(({ file }) => file === join(dirname(home.file), path))
    if (page) menu.at(-1)?.items.push({ page, label, about: about.replace(/\s+/g, ' ') })
  }
  return menu.filter(({ items }) => items.length > 0)
}
