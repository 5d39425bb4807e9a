/** Where to go after a sign-in: an address of ours, or the start. Whatever a browser would read as another site's is not one of ours. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/')) return '/'
  try {
    const url = new URL(next, location.origin)
    return url.origin === location.origin ? url.pathname + url.search + url.hash : '/'
  } catch {
    return '/'
  }
}
