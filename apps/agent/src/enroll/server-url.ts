/**
 * The address of Bridgework's server, without a slash at its end, or a sentence saying why it is refused. Everything
 * that the agent sends is about patients' care, so plain http is for a server on this very computer alone.
 */
export function parseServerUrl(text: string): { url: string } | { because: string } {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return { because: `"${text}" is not a URL. Write the server address like https://bridgework.example.com.` }
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { because: 'The server address must not contain a user, password, query or fragment.' }
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return { because: `The server address must begin with https:// (http:// is accepted only for this computer).` }
  }
  return { url: url.href.replace(/\/+$/, '') }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}
