/** What stands between the agent and the service, in words for the office: what was seen, and what to do. */
export type NetworkProblem = {
  readonly kind: 'unreachable' | 'redirected' | 'intercepted'
  readonly what: string
  readonly todo: string
}

/** Says why there was no answer, from what `fetch` threw. `asked`: the address of the service, without a path. */
export function unanswered(asked: string, error: unknown): NetworkProblem {
  const host = new URL(asked).host
  const { code, reason, proxyStatus } = causeOf(error)
  const [what, todo] = proxyStatus === null ? known(host, code, reason) : proxyRefuses(host, proxyStatus)
  return { kind: 'unreachable', what, todo }
}

/**
 * Says what answered in the place of the service: an answer of the service has JSON of its protocol. `text`: the body, of which the sentence has at
 * most an HTML page's title.
 */
export function answeredByOther(
  asked: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
): NetworkProblem {
  const host = new URL(asked).host
  if (status >= 300 && status < 400) return redirected(asked, status, headers.get('location'))
  const kind = kindOfBody(headers.get('content-type'), text)
  const seen = `Something other than Bridgework answered for ${host}: status ${status} with ${kind}.`
  if (status === 404)
    return {
      kind: 'intercepted',
      what: seen,
      todo: `Check the server address ${asked}: Bridgework is not at this path.`,
    }
  if (status >= 500)
    return {
      kind: 'intercepted',
      what: seen,
      todo: 'The proxy in front of Bridgework has no connection to it, most often for a short time. The agent tries again by itself.',
    }
  return {
    kind: 'intercepted',
    what: seen,
    todo: 'A proxy, a filter or a sign-in page of the network is on the way. Let this computer reach the server without it; the agent tries again by itself.',
  }
}

function redirected(asked: string, status: number, location: string | null): NetworkProblem {
  const { host } = new URL(asked)
  const to = location === null ? null : URL.parse(location, asked)
  const where = to === null ? '' : ` to ${to.origin}`
  const isOwn = to?.hostname === new URL(asked).hostname
  return {
    kind: 'redirected',
    what: `The server ${host} redirects${where} (${status}), and the agent does not follow.`,
    todo: isOwn
      ? `If ${to?.origin} is Bridgework’s address, enrol again with it: bridgework-agent enroll --replace --server ${to?.origin}`
      : 'Most often this is the sign-in page of a network. Open a browser on this computer, sign in to the network, and let this computer through.',
  }
}

/** Never the text itself: a page that stands in between may show what it was sent. */
function kindOfBody(contentType: string | null, text: string): string {
  const [, title] = /<title[^>]*>([^<]{1,200})/i.exec(text) ?? []
  if (title !== undefined) return `the page "${title.replace(/\s+/g, ' ').trim()}"`
  if (/^\s*<(!doctype )?html/i.test(text)) return 'an HTML page'
  if (text.trim() === '') return 'no content'
  if (/json/i.test(contentType ?? '') || /^\s*[[{]/.test(text)) return 'JSON that is cut or not Bridgework’s'
  return 'content that is not Bridgework’s'
}

type Cause = { code: string; reason: string; proxyStatus: string | null }

/** What `fetch` wraps: an error of the system or of TLS, or undici's, which tells a proxy's status in its message alone. */
function causeOf(error: unknown): Cause {
  if (error instanceof Error && error.name === 'TimeoutError') return { code: 'timeout', reason: '', proxyStatus: null }
  const causes: Record<string, unknown>[] = []
  for (let each = error; typeof each === 'object' && each !== null && causes.length < 5; ) {
    causes.push(each as Record<string, unknown>)
    // Several addresses were tried.
    each = each instanceof AggregateError ? each.errors[0] : Reflect.get(each, 'cause')
  }
  const status = causes.map(({ message }) => /Proxy response \((\d{3})\)/.exec(String(message))?.[1])
  const { code, address, port } = causes.find((each) => typeof each.code === 'string' && each.code !== '') ?? {}
  const at = address === undefined || port === undefined ? '' : ` ${address}:${port}`
  const reason = code === undefined ? 'connection failed' : `${code}${at}`
  return { code: String(code), reason, proxyStatus: status.find((each) => each !== undefined) ?? null }
}

type Said = readonly [what: string, todo: string]

function proxyRefuses(host: string, status: string): Said {
  return status === '407'
    ? [
        `The proxy on the way to ${host} demands a name and a password (407).`,
        'Put them into the proxy’s address, in "proxy" of the settings: http://name:password@proxy:port',
      ]
    : [
        `The proxy on the way refuses to connect to ${host} (${status}).`,
        'Ask the people who run the proxy to let this computer reach that host and port.',
      ]
}

const certificateTodo =
  'If an antivirus or a filter of the office looks into encrypted connections, let this server through, or put the certificate (PEM) of its authority into "ca_file" of the settings.'

/** Codes of the system (errno), of DNS, and of certificates as OpenSSL checks them (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
function known(host: string, code: string, reason: string): Said {
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [
        `The name of the server ${host} is not found (${reason}).`,
        'Check the server address and this computer’s internet connection and DNS.',
      ]
    case 'ECONNREFUSED':
      return [
        `The server ${host} refuses connections (${reason}).`,
        'Check the port of the server address. If it is right, the server is off or a firewall refuses.',
      ]
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return [
        `No connection to the server ${host} comes about (${reason}).`,
        'Check this computer’s internet connection, and whether a firewall lets it through. If the office uses a proxy, put its address into "proxy" of the settings.',
      ]
    case 'timeout':
      return [
        `The server ${host} gave no answer in time.`,
        'Check this computer’s internet connection. The agent tries again by itself.',
      ]
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return [
        `The certificate of ${host} is self-signed, so this computer does not trust it (${code}).`,
        certificateTodo,
      ]
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_UNTRUSTED':
      return [
        `The certificate of ${host} is from an authority that this computer does not know (${code}).`,
        certificateTodo,
      ]
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return [
        `The certificate of ${host} is ${code === 'CERT_HAS_EXPIRED' ? 'expired' : 'not valid yet'} (${code}).`,
        'Check the date of this computer’s clock. If it is right, tell the people who operate the server.',
      ]
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return [
        `The certificate that came for ${host} is for another name (${code}).`,
        'Check the server address. If it is right, something else answers in its place: a proxy, a filter or a sign-in page of the network.',
      ]
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return [
        `What answers for ${host} does not speak TLS (${code}).`,
        'Check the server address, its port and whether it begins with https. A filter of the network can answer like this, too.',
      ]
    default:
      return [
        `The server ${host} cannot be reached (${reason}).`,
        'Check this computer’s internet connection and the server address.',
      ]
  }
}
