const tokens = new Map<string, string>()

/**
 * The secret part of a link that was mailed: what stands behind the #. It is taken out of the address at once, so that no history, bookmark or
 * screenshot keeps it, and stays in this page's memory for as long as the page lives. `isKept`: also for this tab until `forgetLinkToken`, so that
 * the page can be loaded again. '' where there is none.
 */
export function takeLinkToken({ isKept = false } = {}): string {
  const path = location.pathname
  const token = location.hash.slice(1)
  if (token !== '') {
    tokens.set(path, token)
    if (isKept) sessionStorage.setItem(keyOf(path), token)
    history.replaceState(history.state, '', path + location.search)
  }
  return tokens.get(path) ?? (isKept ? sessionStorage.getItem(keyOf(path)) : null) ?? ''
}

/** No longer keeps the secret of this page's link for this tab, once it was used. */
export function forgetLinkToken(): void {
  sessionStorage.removeItem(keyOf(location.pathname))
}

function keyOf(path: string): string {
  return `link ${path}`
}
