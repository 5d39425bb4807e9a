import { type FSWatcher, watch } from 'node:fs'

/**
 * Resolves when something in the folder changed and has then been quiet for `quietMs`, after `lookAgainMs` where that is given, or when the signal
 * says so. Where folders cannot be watched (some network drives) it waits without that: files are looked at in each pass all the same.
 */
export function folderChanged(
  folder: string,
  { quietMs, lookAgainMs }: { quietMs: number; lookAgainMs: number | null },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let quiet = lookAgainMs === null ? undefined : setTimeout(() => done(), lookAgainMs)
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
