import type { AttributionEntry } from '@bridgework/contract/portal'
import { attributionSnippet } from '../../../modules/attribution/script.ts'
import { ownDomains, updateAttributionSettings } from '../../../modules/attribution/settings.ts'
import { listScripts, listSightings } from '../../../modules/attribution/store.ts'
import { recordAudit } from '../../../modules/audit/store.ts'
import type { Location } from '../../../modules/directory/location.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalContext, PortalHandlers } from '../shared/context.ts'
import { readListPage, toListed } from '../shared/list.ts'
import { requireOwnLocation } from '../shared/own-location.ts'

/** The script that each location's website may carry, and where it was seen. */
export const attributionHandlers: PortalHandlers<'listAttribution' | 'updateAttribution'> = {
  listAttribution: async (context, { member, query }) => {
    const page = readListPage(query)
    const wanted = page.search.toLowerCase()
    const found = (await listLocations(context.pool, member.organizationId)).filter(({ name, websiteUrl }) =>
      `${name}\n${websiteUrl ?? ''}`.toLowerCase().includes(wanted),
    )
    const shown = found.slice(page.offset, page.offset + page.limit)
    return toListed(page, found.length, await entriesOf(context, shown))
  },

  updateAttribution: async (context, call) => {
    const { pool } = context
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const { domains, excluded_paths: excludedPaths } = call.body
    await updateAttributionSettings(pool, location.id, { domains, excludedPaths }, (client) =>
      recordAudit(client, entryOf(call, 'attribution.update', { location })),
    )
    const [entry] = await entriesOf(context, [location])
    if (!entry) throw new Error('the location is gone')
    return entry
  },
}

async function entriesOf(
  { pool, publicUrl }: PortalContext,
  locations: readonly Location[],
): Promise<AttributionEntry[]> {
  const ids = locations.map(({ id }) => id)
  const [scripts, sightings] = await Promise.all([listScripts(pool, ids), listSightings(pool, ids)])
  return locations.map((location) => {
    const script = scripts.get(location.id)
    if (!script) throw new Error('a location has no attribution script')
    return {
      location_id: location.id,
      location_name: location.name,
      website_url: location.websiteUrl,
      key: script.key,
      snippet: attributionSnippet(publicUrl, script.key),
      domains: script.domains,
      own_domains: [...ownDomains(script.domains, location.websiteUrl)],
      excluded_paths: script.excludedPaths,
      is_installed: script.isInstalled,
      installed_at: script.installedAt?.toISOString() ?? null,
      last_seen_at: script.lastSeenAt?.toISOString() ?? null,
      sightings: (sightings.get(location.id) ?? []).map((each) => ({
        origin: each.origin,
        is_own_domain: each.isOwnDomain,
        first_seen_at: each.firstSeenAt.toISOString(),
        last_seen_at: each.lastSeenAt.toISOString(),
      })),
    }
  })
}
