import { randomInt, randomUUID } from 'node:crypto'

/** A location's id: a positive whole number below 2^53 in decimal digits. */
export type LocationId = string & { readonly brand: 'LocationId' }
export type OrganizationId = string & { readonly brand: 'OrganizationId' }
export type AgentId = string & { readonly brand: 'AgentId' }
export type CompanyId = string & { readonly brand: 'CompanyId' }
export type MemberId = string & { readonly brand: 'MemberId' }
export type KeyPairId = string & { readonly brand: 'KeyPairId' }
/** Of a webhook. */
export type EndpointId = string & { readonly brand: 'EndpointId' }
/** Of a company's request for access. */
export type RequestId = string & { readonly brand: 'RequestId' }

/** A new random id of an organization, a location or an agent: 15 digits, so that all are below 2^53 and of one length. */
export function newNumericId<Id extends OrganizationId | LocationId | AgentId>(): Id {
  return String(randomInt(100_000_000_000_000, 100_000_000_000_000 + 2 ** 47)) as Id
}

/** A new random id of a company, a member, a key pair, a request or a webhook's endpoint. */
export function newUuid<Id extends CompanyId | MemberId | KeyPairId | RequestId | EndpointId>(): Id {
  return randomUUID() as Id
}

/** The id that a text spells: decimal, without sign or leading zero, below 2^53; null for anything else. */
export function parseNumericId<Id extends OrganizationId | LocationId | AgentId>(text: string): Id | null {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER ? (text as Id) : null
}

/** The id that a text spells: a UUID in lower case, as ours are written; null for anything else. */
export function parseUuid<Id extends CompanyId | MemberId | KeyPairId | RequestId | EndpointId>(
  text: string,
): Id | null {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text) ? (text as Id) : null
}
