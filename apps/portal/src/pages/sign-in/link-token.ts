const tokens = new Map<string, string>()

/**
 * The secret part of a link that was mailed: what stands behind the #. It is taken out of the address at once, so that no history, bookmark or
 * screenshot keeps it, and stays in this page's memory for as long as the page lives. '' where there is none.
 */
export function takeLinkToken(): string {
  const token = location.hash.slice(1)
  if (token !== '') {
    tokens.set(location.pathname, token)
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  return tokens.get(location.pathname) ?? ''
}
