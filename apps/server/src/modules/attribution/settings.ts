import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { requireLocation } from '../directory/location.ts'
import { judgeSightings, listSightings, lockScript, saveScriptSettings } from './store.ts'

/**
 * Sets the domains that are the practice's (none: its website's) and the paths under which the script keeps still. What was seen before is
 * judged anew. `record` runs in the same transaction. Throws a Problem.
 */
export async function updateAttributionSettings(
  pool: Pool,
  locationId: LocationId,
  input: { domains: readonly string[]; excludedPaths: readonly string[] },
  record: (client: Queryable) => Promise<void>,
): Promise<void> {
  const domains = [...new Set(input.domains.map(requireDomain))]
  const excludedPaths = [...new Set(input.excludedPaths.map(requireExcludedPath))]
  if (Buffer.byteLength(JSON.stringify(excludedPaths)) > excludedBytesMax) {
    throw new Problem('field_invalid', {
      errors: `excluded_paths: too long. All paths together may have at most ${excludedBytesMax} characters.`,
    })
  }
  await withTransaction(pool, async (client) => {
    await lockScript(client, locationId)
    await saveScriptSettings(client, locationId, { domains, excludedPaths })
    const { websiteUrl } = await requireLocation(client, locationId)
    const origins = ((await listSightings(client, [locationId])).get(locationId) ?? []).map(({ origin }) => origin)
    const own = ownDomains(domains, websiteUrl)
    await judgeSightings(
      client,
      locationId,
      origins.filter((origin) => isOwnOrigin(origin, own)),
    )
    await record(client)
  })
}

/** The domains that count as the practice's: those that it set, else its website's, without the `www.`. */
export function ownDomains(domains: readonly string[], websiteUrl: string | null): readonly string[] {
  if (domains.length > 0) return domains
  const host = hostOf(/^https?:\/\//i.test(websiteUrl ?? '') ? (websiteUrl ?? '') : `https://${websiteUrl}`)
  return host === null || websiteUrl === null || !isDomain(host) ? [] : [host.replace(/^www\.(?=.*\.)/, '')]
}

/** Whether a website's host is one of the domains or below one. */
export function isOwnOrigin(origin: string, domains: readonly string[]): boolean {
  const host = hostOf(origin)
  return host !== null && domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
}

/** Keeps the script below 1 KB. */
const excludedBytesMax = 500

function requireDomain(text: string): string {
  const host = /[/:@?#\\\s]/.test(text.trim()) ? null : hostOf(`https://${text.trim()}`)
  if (host === null || !isDomain(host)) {
    throw new Problem('field_invalid', {
      errors: `domains: “${text.slice(0, 100)}” is not a host name like smile.example.`,
    })
  }
  return host
}

function requireExcludedPath(text: string): string {
  const path = decoded(text.trim())?.toLowerCase() ?? ''
  if (!path.startsWith('/') || /[?#\s\p{Cc}]/u.test(path)) {
    throw new Problem('field_invalid', {
      errors: `excluded_paths: “${text.slice(0, 100)}” is not a path like /portal. A path begins with / and has no ?, # or space.`,
    })
  }
  return path
}

/** A name with a dot whose last part is no number, which would be an address; or this computer, for trials. */
function isDomain(host: string): boolean {
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
  return host === 'localhost' || (new RegExp(`^(${label}\\.)+${label}$`).test(host) && !/\.\d+$/.test(host))
}

/** In small letters, and as browsers write names with other letters (punycode). */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : null
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
