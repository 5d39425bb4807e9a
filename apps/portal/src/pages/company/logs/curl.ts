import type { LoggedRequest } from '@bridgework/contract/portal'

type Asked = Pick<LoggedRequest, 'method' | 'route' | 'location_id' | 'parameter' | 'client_id'>

/**
 * A logged request as a command for bash or zsh; null for a path that no route knows. The log has neither token, ids of records nor values of
 * parameters: places in angle brackets stand for them, and the token or secret comes from a variable of the shell, so it is on no command line.
 */
export function curlOf({ method, route, location_id, parameter, client_id }: Asked, baseUrl: string): string | null {
  if (!route.startsWith('/')) return null
  if (route === '/auth/token') {
    return `printf '{"client_id":"%s","client_secret":"%s"}' '${client_id ?? '<client id>'}' "$client_secret" |
  curl -i '${baseUrl}${route}' -H 'Content-Type: application/json' -d @-`
  }
  const path = route
    .replace(':location_id', location_id ?? '<location id>')
    .replace(/:(\w+)/g, (_, name: string) => `<${name}>`)
  const query = parameter === null ? '' : `?${encodeURIComponent(parameter)}=<value>`
  const ofMethod = method === 'GET' ? '-i' : method === 'HEAD' ? '-I' : `-i -X ${method}`
  return `printf 'Authorization: Bearer %s' "$token" |
  curl ${ofMethod} -H @- '${baseUrl}${path}${query}'`
}

/** Whether the sandbox can send it again: the log has all of it. A part of an export is too long to be shown. */
export function canSendAgain({ method, route }: Pick<LoggedRequest, 'method' | 'route'>): boolean {
  return method === 'GET' && /^\/(organizations|changes|locations(\/:location_id(\/[a-z_]+(\/digest)?)?)?)$/.test(route)
}
