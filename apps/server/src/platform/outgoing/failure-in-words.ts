import { codeOf } from '../errors/error-code.ts'
import { AddressRefused } from './outgoing.ts'

/** Why a call to an address that a customer entered failed, for that customer. Nothing that was read is repeated. */
export function failureInWords(error: unknown, timeoutMs: number): string {
  if (error instanceof AddressRefused) return 'it is not at a public address of the internet.'
  if (error instanceof DOMException) return `no answer within ${timeoutMs / 1000} seconds.`
  const code = codeOf(error) ?? ''
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name has no address.'
  if (code === 'ECONNREFUSED') return 'the connection was refused.'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return 'its certificate is not valid.'
  if (code === 'ANSWER_TOO_LARGE') return 'the answer is too large.'
  if (code === 'ANSWER_UNUSABLE' || code.startsWith('HPE_')) return 'the answer is not one of a website.'
  return 'the connection failed.'
}
