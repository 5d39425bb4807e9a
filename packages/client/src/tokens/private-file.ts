import { chmod, type FileHandle, open, rm, stat } from 'node:fs/promises'

/** Opens a file for appending that only its owner may read (0600), from its first byte and whatever the umask, and makes it where there is none. */
export async function appendPrivate(file: string): Promise<FileHandle> {
  return only(await open(file, 'a', 0o600))
}

/** Makes a file that only its owner may read, in the place of one that is there: another process may hold that open, or it may be a link. */
export async function createPrivate(file: string): Promise<FileHandle> {
  await rm(file, { force: true })
  return only(await open(file, 'wx', 0o600))
}

/** Takes from others what they may do with the file, and gives what its mode was ("0644"); null: they may nothing, or there is no file. */
export async function makePrivate(file: string): Promise<string | null> {
  // Windows has no such modes; its profile folders are private already.
  if (process.platform === 'win32') return null
  const found = await stat(file).catch(() => null)
  if (found === null || (found.mode & 0o077) === 0) return null
  await chmod(file, 0o600)
  return `0${(found.mode & 0o777).toString(8)}`
}

/** A umask can have taken the owner's rights, and one that was there can have had more. */
async function only(handle: FileHandle): Promise<FileHandle> {
  try {
    if (process.platform !== 'win32') await handle.chmod(0o600)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
