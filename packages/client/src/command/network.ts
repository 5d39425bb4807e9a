import http from 'node:http'
import tls from 'node:tls'

/**
 * Makes this process trust the authorities that the system trusts, and go through the proxy that HTTPS_PROXY names, except to this computer and to what
 * NO_PROXY names. A Node before 24.5 can do neither.
 */
export function useSystemNetwork(env: NodeJS.ProcessEnv): void {
  tls.setDefaultCACertificates?.([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])
  const proxy = env.HTTPS_PROXY ?? env.https_proxy ?? ''
  if (proxy === '') return
  const direct = `localhost,127.0.0.1,[::1],${env.NO_PROXY ?? env.no_proxy ?? ''}`
  http.setGlobalProxyFromEnv?.({ https_proxy: proxy, no_proxy: direct })
}
