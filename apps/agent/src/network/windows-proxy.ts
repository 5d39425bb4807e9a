import { execFileSync } from 'node:child_process'
import type { Options } from '../command-line.ts'

/** A proxy as Windows keeps it. `direct`: names and addresses that are asked without it, as NO_PROXY writes them. */
export type SystemProxy = { readonly url: string; readonly direct: readonly string[] }

/** Of the account first, then of the computer. */
const keys = ['HKCU', 'HKLM'].map((hive) => `${hive}\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Internet Settings`)

/** The proxy of the Windows settings (Network & internet, Proxy); null: without one, or on another system. A script (PAC) is not run. */
export function windowsProxy(): SystemProxy | null {
  if (process.platform !== 'win32') return null
  for (const key of keys) {
    try {
      const text = execFileSync('reg', ['query', key], {
        timeout: 5_000,
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const found = parseInternetSettings(text.toString('latin1'))
      if (found) return found
    } catch {
      // The account has no such key, or may not read it.
    }
  }
  return null
}

/**
 * Reads what `reg query` prints of the key "Internet Settings". ProxyServer is one address for all protocols, or `protocol=address` for some; ProxyOverride
 * has patterns with `*`, and `<local>` for names without a dot
 * (https://learn.microsoft.com/windows/win32/wininet/setting-and-retrieving-internet-options, INTERNET_PROXY_INFO).
 */
export function parseInternetSettings(text: string): SystemProxy | null {
  const values = new Map(
    [...text.matchAll(/^\s+(\S+)\s+REG_\w+\s+(.*?)\s*$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  if (Number(values.get('ProxyEnable')) !== 1) return null
  const servers = (values.get('ProxyServer') ?? '').split(/[;\s]+/).filter(Boolean)
  const address =
    servers.find((each) => each.startsWith('https='))?.slice('https='.length) ??
    servers.find((each) => !each.includes('='))
  if (address === undefined || address === '') return null
  const url = /^https?:\/\//.test(address) ? address : `http://${address}`
  if (!URL.canParse(url)) return null
  const patterns = (values.get('ProxyOverride') ?? '').split(/[;\s]+/)
  // NO_PROXY knows a star at the beginning alone. What else has one is of the office's own network.
  return { url, direct: patterns.filter((pattern) => /^(\*\.)?[\w.:[\]-]+$/.test(pattern)) }
}

/** Options of `setup` with the proxy of the person who runs it, where they name none: the account of the service has no settings of its own. */
export function withSystemProxy(options: Options, system: () => SystemProxy | null = windowsProxy): Options {
  const found = options.has('proxy') ? null : system()
  return found ? new Map([...options, ['proxy', found.url]]) : options
}
