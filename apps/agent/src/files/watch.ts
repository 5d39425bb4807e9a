import { type FSWatcher, watch } from 'node:fs'

/**
 * Resolves when something in the folder changed and has then been quiet for `quietMs`, or when the signal says so. Where folders cannot be
 * watched (some network drives) it waits for the signal alone: files are looked at in each pass all the same.
 */
export function folderChanged(folder: string, quietMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let quiet: NodeJS.Timeout | undefined
    let watcher: FSWatcher | undefined
    const done = () => {
      clearTimeout(quiet)
      watcher?.close()
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    if (signal.aborted) return done()
    try {
      watcher = watch(folder, { recursive: true }, () => {
        clearTimeout(quiet)
        quiet = setTimeout(done, quietMs)
      })
      watcher.on('error', () => watcher?.close())
    } catch {
      watcher = undefined
    }
  })
}
