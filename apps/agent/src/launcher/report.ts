/** Tells the launcher, where there is one, that the service answered. When the launcher is gone, `onGone` is called. */
export function reportToLauncher(onGone: () => void): () => void {
  if (process.send === undefined) return () => {}
  process.once('disconnect', onGone)
  // It must not keep the process alive.
  process.channel?.unref()
  let isReported = false
  return () => {
    if (!isReported && process.connected) process.send?.('reported')
    isReported = true
  }
}
