/** Where to go after a sign-in: a path of the portal, or its start. What a browser would read as another site's address gives the start. */
export function safeNext(next: string | undefined, origin: string): string {
  if (next === undefined || !next.startsWith('/')) return '/'
  try {
    const url = new URL(next, origin)
    // "/x/..//evil" is ours as written, and not any more once its path is worked out.
    if (url.origin !== origin || url.pathname.startsWith('//')) return '/'
    return url.pathname + url.search + url.hash
  } catch {
    return '/'
  }
}
