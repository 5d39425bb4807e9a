// Builds a folder anew when what it is made of has changed since.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { underSetupLock } from './setup-lock.mjs'
import { hashOf } from './setup-sources.mjs'

/**
 * `build(made)` writes into the empty folder `made`, which then replaces `folder` in one step: a server that runs serves the new files from then on.
 * `sources`: what the build reads, as paths from `root`.
 */
export async function buildWhenChanged(root, { folder, sources, saying, build }) {
  const target = join(root, folder)
  const isCurrent = () => {
    const mark = join(target, '.sources')
    return existsSync(mark) && readFileSync(mark, 'utf8') === hashOf(root, sources)
  }
  if (isCurrent()) return
  await underSetupLock(root, () => {
    if (isCurrent()) return
    console.error(`${saying} This takes a few seconds.`)
    // Before the build reads them: what is changed while it runs makes the next one.
    const hash = hashOf(root, sources)
    const made = `${target}.new`
    rmSync(made, { recursive: true, force: true })
    mkdirSync(made, { recursive: true })
    build(made)
    writeFileSync(join(made, '.sources'), hash)
    rmSync(target, { recursive: true, force: true })
    renameSync(made, target)
  })
}
