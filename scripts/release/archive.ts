import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { create } from 'tar'

/**
 * Packs a folder, with its name, into a .tar.gz. The bytes depend on the names, contents, links and executable bits alone: not on who packs,
 * when, or in which order the disk lists the files.
 */
export async function pack(folder: string, file: string, madeAt: Date): Promise<void> {
  const cwd = dirname(folder)
  const names = globSync(`${basename(folder)}/**`, { cwd, withFileTypes: false }).sort()
  await create(
    {
      file,
      cwd,
      gzip: { level: 9 },
      portable: true,
      noDirRecurse: true,
      mtime: madeAt,
      onWriteEntry: (entry) => {
        // Who may write is a matter of the machine that packs.
        if (entry.stat) entry.stat.mode = entry.stat.isDirectory() || (entry.stat.mode & 0o100) !== 0 ? 0o755 : 0o644
      },
    },
    names,
  )
}
