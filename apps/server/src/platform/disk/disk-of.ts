import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The file system that a folder is on, or would be: with a database of its own, a server may never make its data folder. */
export async function diskOf(folder: string): Promise<StatsFs> {
  try {
    return await statfs(folder)
  } catch (error) {
    const above = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
    return await diskOf(above)
  }
}
