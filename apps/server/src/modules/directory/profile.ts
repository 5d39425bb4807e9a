import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { setDomain } from './domain.ts'
import { requireName } from './name.ts'

/** What a company says of itself; null where it says nothing. `website`: an https address without path. */
export type Profile = {
  legalName: string | null
  /** On one line: an accounting of disclosures names it (45 CFR 164.528(b)(2)(ii)). */
  postalAddress: string | null
  website: string | null
  contact: string | null
  /** What it does with a practice's data. */
  purpose: string | null
}

/** The profile, and the logo as a PNG. Empty where the company has not filled it in. */
export async function findProfile(db: Queryable, companyId: CompanyId): Promise<Profile & { logo: Buffer | null }> {
  const { rows } = await db.query<RowOf<Profile & { logo: Buffer | null }>>(
    'select legal_name, postal_address, website, contact, purpose, logo from company_profile where company_id = $1',
    [companyId],
  )
  return rows[0]
    ? fromRow(rows[0])
    : { legalName: null, postalAddress: null, website: null, contact: null, purpose: null, logo: null }
}

/** The logos of these companies, as PNGs; those without one are left out. */
export async function logosOf(db: Queryable, companyIds: readonly CompanyId[]): Promise<Map<CompanyId, Buffer>> {
  const { rows } = await db.query<{ company_id: CompanyId; logo: Buffer }>(
    'select company_id, logo from company_profile where company_id = any($1::uuid[]) and logo is not null',
    [companyIds],
  )
  return new Map(rows.map(({ company_id, logo }) => [company_id, logo]))
}

/**
 * Replaces what a company says of itself; an empty text is none. Another website ends the proof of the one before; another legal name ends the
 * operator's verification. Returns what was stored. Throws Problem field_invalid.
 */
export async function saveProfile(
  client: Queryable,
  companyId: CompanyId,
  given: { [field in keyof Profile]: string },
): Promise<Profile> {
  const profile: Profile = {
    legalName: unlessEmpty(given.legalName, (text) => requireName(text, 'the legal name')),
    postalAddress: unlessEmpty(given.postalAddress, (text) =>
      requireText(text.replace(/\s*\n\s*/g, ', ').replace(/\s+/g, ' '), 'the postal address', 300),
    ),
    website: unlessEmpty(given.website, requireWebsite),
    contact: unlessEmpty(given.contact, requireContact),
    purpose: unlessEmpty(given.purpose, (text) => requireText(text.replace(/\s+/g, ' '), 'the description', 500)),
  }
  const before = await findProfile(client, companyId)
  await client.query(
    `insert into company_profile (company_id, legal_name, postal_address, website, contact, purpose)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (company_id) do update
        set legal_name = excluded.legal_name, postal_address = excluded.postal_address, website = excluded.website,
            contact = excluded.contact, purpose = excluded.purpose`,
    [companyId, profile.legalName, profile.postalAddress, profile.website, profile.contact, profile.purpose],
  )
  await setDomain(client, companyId, profile.website && domainOf(profile.website))
  if (before.legalName !== profile.legalName) {
    await client.query('update company set verified_at = null, verified_by = null where id = $1', [companyId])
  }
  return profile
}

/** Replaces the logo with a PNG of `readLogo`; null: none. */
export async function saveLogo(client: Queryable, companyId: CompanyId, logo: Buffer | null): Promise<void> {
  await client.query(
    `insert into company_profile (company_id, logo) values ($1, $2)
         on conflict (company_id) do update set logo = excluded.logo`,
    [companyId, logo],
  )
}

/** The domain that a company proves: the host of its website, without "www.". */
export function domainOf(website: string): string {
  return new URL(website).hostname.replace(/^www\./, '')
}

function unlessEmpty(text: string, read: (text: string) => string): string | null {
  return text.trim() === '' ? null : read(text)
}

function requireWebsite(text: string): string {
  const given = requireText(text, 'the website')
  const address = /^[a-z]+:\/\//i.test(given) ? given : `https://${given}`
  const url = URL.canParse(address) ? new URL(address) : null
  // A label and a top-level domain of letters: no address of a network, and no name of the operator's own.
  const isPublicName =
    url !== null && /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(url.hostname)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.port === ''
  if (url?.protocol !== 'https:' || !isPublicName || !isPlain || url.hostname.length > 200)
    throw new Problem('field_invalid', {
      errors: 'The website must be an https address with a domain name, like https://www.example.com.',
    })
  return url.origin
}

function requireContact(text: string): string {
  const contact = requireText(text, 'the contact')
  if (/^[^\s@<>"',;:]+@[^\s@<>"',;:]+\.[^\s@<>"',;:]+$/.test(contact)) return contact
  throw new Problem('field_invalid', { errors: 'The contact must be an e-mail address, like help@example.com.' })
}
