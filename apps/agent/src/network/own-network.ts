import { readFileSync } from 'node:fs'
import { setGlobalProxyFromEnv } from 'node:http'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { UsageError } from '@bridgework/command-line'
import { type SystemProxy, windowsProxy } from './windows-proxy.ts'

export type NetworkSettings = {
  /** `http://[name:password@]host:port`; null: as HTTPS_PROXY and NO_PROXY say, or the settings of Windows. */
  readonly proxy: string | null
  /** A file of certificates (PEM) of authorities that are trusted as well; null: none. */
  readonly caFile: string | null
}

/**
 * Makes this process trust the authorities that the system trusts, and go through the office's proxy. Addresses of this computer are always asked
 * directly. Throws a `UsageError` when the file of certificates cannot be used.
 */
export function useNetworkOf({ proxy, caFile }: NetworkSettings, env: NodeJS.ProcessEnv): void {
  const own = caFile === null ? [] : [readCertificates(caFile)]
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...own])])
  const used = proxyOf(proxy, env)
  if (used) setGlobalProxyFromEnv({ https_proxy: used.url, http_proxy: used.url, no_proxy: used.direct.join(',') })
}

/** The proxy of the settings, else of the environment, else of the system; null: requests go directly. */
export function proxyOf(
  configured: string | null,
  env: NodeJS.ProcessEnv,
  system: () => SystemProxy | null = windowsProxy,
): SystemProxy | null {
  const { https_proxy: lower, HTTPS_PROXY: upper = lower, no_proxy: noLower, NO_PROXY: noUpper = noLower } = env
  const given = configured ?? upper ?? ''
  const found = given === '' ? system() : { url: given, direct: (noUpper ?? '').split(',').filter(Boolean) }
  return found && { url: found.url, direct: ['localhost', '127.0.0.1', '[::1]', ...found.direct] }
}

function readCertificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    throw new UsageError(`ca_file ${path} cannot be read (${code}).`)
  }
  throw new UsageError(`ca_file ${path} has no certificate in PEM form ("-----BEGIN CERTIFICATE-----").`)
}
