import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { create, extract } from 'tar'

/** The time of all files that npm packs. */
const npmTime = new Date('1985-10-26T08:15:00Z')

/**
 * Packs a folder, with its name, into a .tar.gz or .tgz. The bytes depend on the names, contents, links and executable bits alone: not on who packs,
 * when, or in which order the disk lists the files. `withFolders: false` lists files alone, as npm does.
 */
export async function pack(folder: string, file: string, madeAt: Date, { withFolders = true } = {}): Promise<void> {
  const cwd = dirname(folder)
  const names = globSync(`${basename(folder)}/**`, { cwd }).filter(
    (name) => withFolders || !statSync(join(cwd, name)).isDirectory(),
  )
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
    names.sort(),
  )
}

/**
 * Packs what npm has packed once more, so that its bytes are those of `pack`: npm keeps the order of its own version and the rights of the
 * person's files, and compresses with the person's Node.
 */
export async function packAgain(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-pack-'))
  try {
    await extract({ file, cwd: folder })
    await pack(join(folder, 'package'), file, npmTime, { withFolders: false })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
