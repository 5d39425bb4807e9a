import { hash } from 'node:crypto'
import type { OrganizationId } from '../../platform/identity/identity.ts'

/** A seal over a run of disclosures and a run of acts, and over the practice seals made with it: docs/decisions/chain.md. */
export type Seal = {
  number: number
  /** SHA-256 of the text of the seal before. */
  previous: Buffer
  /** UTC with six decimals, as in the text. */
  sealedAt: string
  lastDisclosureId: string
  disclosures: number
  disclosuresSha256: Buffer
  lastActId: string
  acts: number
  actsSha256: Buffer
  practices: number
  practicesSha256: Buffer
  keyId: string
  signature: Buffer
}

/** A practice's own seal: the head of its chain after so many entries. */
export type PracticeSeal = {
  organizationId: OrganizationId
  entries: string
  head: Buffer
  lastDisclosureId: string
  sealedAt: string
  keyId: string
  signature: Buffer
}

/** What stands before the first seal. */
export const noSeal = { number: 0, lastDisclosureId: '0', lastActId: '0', sealedAt: '' } as const

/** The text that is hashed and signed. Never changed: seals of years depend on it. */
export function sealText(seal: Omit<Seal, 'signature'>): string {
  return JSON.stringify([
    'seal',
    String(seal.number),
    seal.previous.toString('hex'),
    seal.sealedAt,
    seal.lastDisclosureId,
    String(seal.disclosures),
    seal.disclosuresSha256.toString('hex'),
    seal.lastActId,
    String(seal.acts),
    seal.actsSha256.toString('hex'),
    String(seal.practices),
    seal.practicesSha256.toString('hex'),
    seal.keyId,
  ])
}

/** As `sealText`, of a practice's seal. */
export function practiceSealText(seal: Omit<PracticeSeal, 'signature'>): string {
  return JSON.stringify([
    'practice seal',
    seal.organizationId,
    seal.entries,
    seal.head.toString('hex'),
    seal.lastDisclosureId,
    seal.sealedAt,
    seal.keyId,
  ])
}

export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}

/** What the next seal names as the one before it. */
export function previousOf(seal: Seal | null): Buffer {
  return seal === null ? Buffer.alloc(32) : sha256(sealText(seal))
}

/** Where the chain of a practice begins. */
export function firstHead(organizationId: OrganizationId): Buffer {
  return sha256(`disclosures of organization ${organizationId}`)
}

/** The head after one more entry. */
export function nextHead(head: Uint8Array, entryHash: Uint8Array): Buffer {
  return sha256(Buffer.concat([head, entryHash]))
}

/** The hash of practice seals, which are given in order of organization. */
export function practicesHash(seals: readonly Omit<PracticeSeal, 'signature'>[]): Buffer {
  return sha256(Buffer.concat(seals.map((seal) => sha256(practiceSealText(seal)))))
}

/** How many bytes of each entry's hash are kept to name a row. */
export const markBytes = 8

/** Of each hash the first bytes, one after the other. */
export function marksOf(hashes: readonly Buffer[]): Buffer {
  return Buffer.concat(hashes.map((each) => each.subarray(0, markBytes)))
}
