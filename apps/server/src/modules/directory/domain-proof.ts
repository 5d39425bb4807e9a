import { codeOf } from '../../platform/errors/error-code.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { failureInWords } from '../../platform/outgoing/failure-in-words.ts'
import { createOutgoing, type Outgoing } from '../../platform/outgoing/outgoing.ts'

/** How the service asks for proofs. `originOf`: where a domain's file is looked for. */
export type ProofAccess = Outgoing & { originOf: (domain: string) => string }

export type Proof =
  | { method: 'dns' | 'file' }
  /** Why neither proves it, in sentences for the person who set them up. Nothing that was read is repeated in them. */
  | { method: null; dnsFailure: string; fileFailure: string }

/** Of both questions together, and of the first. */
const timeoutMs = 10_000
const dnsTimeoutMs = 4_000

/**
 * Asks the system's name servers, and public addresses over https alone: a vendor chooses the name, and must not reach the operator's own
 * network by it. `stopping` ends every check.
 */
export function createProofAccess(stopping?: AbortSignal): ProofAccess {
  return {
    ...createOutgoing({ allowPrivate: false, stopping }),
    originOf: (domain) => `https://${domain}`,
  }
}

/** Where the TXT record of a domain is. */
export function dnsNameOf(domain: string): string {
  return `_bridgework.${domain}`
}

/** The path of the file. */
export const filePath = '/.well-known/bridgework-verification.txt'

/**
 * Looks whether a domain has the token, in its DNS record or in its file. Ends within 10 seconds, and never throws for what the domain does:
 * throws the Problem with which the server stops, for then nothing was found out.
 */
export async function findProof(access: ProofAccess, domain: string, token: string): Promise<Proof> {
  const signal = AbortSignal.timeout(timeoutMs)
  const dnsFailure = await dnsFailureOf(access, domain, token)
  if (dnsFailure === null) return { method: 'dns' }
  const fileFailure = await fileFailureOf(access, domain, token, signal)
  return fileFailure === null ? { method: 'file' } : { method: null, dnsFailure, fileFailure }
}

async function dnsFailureOf(access: ProofAccess, domain: string, token: string): Promise<string | null> {
  const name = dnsNameOf(domain)
  try {
    const records = (await access.resolveTxt(name, AbortSignal.timeout(dnsTimeoutMs))).map((parts) =>
      parts.join('').trim(),
    )
    if (records.includes(token)) return null
    return `${name} has a TXT record with another value. Set it to the value shown here. A change may take an hour to be seen.`
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = codeOf(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA')
      return `${name} has no TXT record. Add it. A new record may take an hour to be seen.`
    return `The name servers of ${domain} did not answer. Try again later.`
  }
}

async function fileFailureOf(
  access: ProofAccess,
  domain: string,
  token: string,
  signal: AbortSignal,
): Promise<string | null> {
  const url = `${access.originOf(domain)}${filePath}`
  try {
    const answer = await access.fetch(url, {
      method: 'GET',
      headers: { accept: 'text/plain', 'user-agent': 'Bridgework' },
      signal,
    })
    if (answer.status >= 300 && answer.status < 400)
      return `${url} is redirected. Answer at exactly this address: redirects are not followed.`
    if (answer.status !== 200) return `${url} answered with status ${answer.status}. Put the file there.`
    return (await answer.text()).trim() === token ? null : `${url} has another text than the value shown here.`
  } catch (error) {
    if (error instanceof Problem) throw error
    return `${url} could not be read: ${failureInWords(error, timeoutMs)}`
  }
}
