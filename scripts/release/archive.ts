import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { create } from 'tar'

/**
 * Packs a folder, with its name, into a .tar.gz or .tar. The bytes depend on the names, contents, links and executable bits alone: not on who packs,
 * when, or in which order the disk lists the files. With `isRoot`, the names begin below the folder.
 */
export async function pack(folder: string, file: string, madeAt: Date, { isRoot = false } = {}): Promise<void> {
  const cwd = isRoot ? folder : dirname(folder)
  const names = globSync(isRoot ? '**' : `${basename(folder)}/**`, { cwd }).filter((name) => name !== '.')
  await create(
    {
      file,
      cwd,
      gzip: file.endsWith('.gz') && { level: 9 },
      portable: true,
      noDirRecurse: true,
      mtime: madeAt,
      onWriteEntry: (entry) => {
        // Who may write is a matter of the machine that packs.
        if (entry.stat) entry.stat.mode = entry.stat.isDirectory() || (entry.stat.mode & 0o100) !== 0 ? 0o755 : 0o644
      },
    },
    names.sort(),
  )
}
