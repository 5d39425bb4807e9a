/** Scripts and styles from our own files and nothing else; with a `nonce`, styles also from the elements that carry it. */
export function pageHeaders(nonce: string | null, publicUrl: string): Record<string, string> {
  const policy = [
    "default-src 'self'",
    ...(nonce === null ? [] : [`style-src 'self' 'nonce-${nonce}'`]),
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=63072000; includeSubDomains' }),
  }
}
