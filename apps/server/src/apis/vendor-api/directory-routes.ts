import type { FreshnessState } from '@bridgework/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, requirePrincipal } from '../../modules/consent/read-permit.ts'
import { freshnessOf, oldestOf, type SyncTimes } from '../../modules/datasets/freshness.ts'
import { type GrantedLocation, getGrantedLocation } from '../../modules/overview/granted-location.ts'
import { type GrantedOrganization, getGrantedOrganization } from '../../modules/overview/granted-organization.ts'
import { listHeldOf } from '../../modules/records/removals/removal-decision.ts'
import { acceptedCoding, sendBody } from '../../platform/http/send-body.ts'
import { rawQuery } from '../../platform/http/server.ts'
import type { VendorApiContext } from './context.ts'
import {
  locationListSchema,
  locationSchema,
  organizationListSchema,
  organizationSchema,
  syncStatusSchema,
} from './openapi/schemas.ts'
import { readLocationsParameters, readNoParameters, readPageParameters } from './parameters.ts'
import { keepBytes } from './request-turn.ts'
import { tokenOf } from './token/authenticate.ts'

/** Organizations, locations and their sync status: what tells a vendor where its data is. No patient's data. */
export function registerDirectory(
  app: FastifyInstance,
  { pool, controlPool, now, lastContactOf, locationLists, organizationLists }: VendorApiContext,
): void {
  const stateOf = (location: GrantedLocation, times: SyncTimes) =>
    freshnessOf(times, location, () => lastContactOf(location.organizationId), now())
  const render = async (location: GrantedLocation) => {
    const times = oldestOf(location.states.map(({ state }) => state))
    return renderLocation(location, times, await stateOf(location, times))
  }

  app.get('/organizations', { schema: organizationListSchema, exposeHeadRoute: true }, async (request, reply) => {
    const principal = await requirePrincipal(controlPool, tokenOf(request))
    const parameters = readPageParameters(rawQuery(request))
    const { organizations, ...list } = await organizationLists.list(principal, parameters)
    return sendPage(request, reply, principal, organizations.map(renderOrganization), { ...parameters, ...list })
  })

  app.get<{ Params: { organization_id: string } }>(
    '/organizations/:organization_id',
    { schema: organizationSchema, exposeHeadRoute: true },
    async (request) => {
      const principal = await requirePrincipal(controlPool, tokenOf(request))
      const organization = await getGrantedOrganization(pool, principal, request.params.organization_id)
      readNoParameters(rawQuery(request))
      return { data: renderOrganization(organization), meta: { epoch: principal.epoch, request_id: request.id } }
    },
  )

  app.get('/locations', { schema: locationListSchema, exposeHeadRoute: true }, async (request, reply) => {
    const principal = await requirePrincipal(controlPool, tokenOf(request))
    const parameters = readLocationsParameters(rawQuery(request))
    const { locations, ...list } = await locationLists.list(principal, parameters)
    const data = await Promise.all(locations.map(render))
    return sendPage(request, reply, principal, data, { ...parameters, ...list })
  })

  app.get<{ Params: { location_id: string } }>(
    '/locations/:location_id',
    { schema: locationSchema, exposeHeadRoute: true },
    async (request) => {
      const principal = await requirePrincipal(controlPool, tokenOf(request))
      const location = await getGrantedLocation(pool, principal, request.params.location_id)
      readNoParameters(rawQuery(request))
      return { data: await render(location), meta: { epoch: principal.epoch, request_id: request.id } }
    },
  )

  app.get<{ Params: { location_id: string } }>(
    '/locations/:location_id/sync_status',
    { schema: syncStatusSchema, exposeHeadRoute: true },
    async (request) => {
      const principal = await requirePrincipal(controlPool, tokenOf(request))
      const location = await getGrantedLocation(pool, principal, request.params.location_id)
      readNoParameters(rawQuery(request))
      const holds = await listHeldOf(pool, location.id)
      const data = location.states.map(async ({ dataset, state }) => ({
        id: dataset,
        type: 'sync_status',
        attributes: {
          dataset,
          state: await stateOf(location, state),
          synced_at: state.syncedAt,
          total: state.total,
          initial_sync_completed_at: state.initialSyncCompletedAt,
          removal_held: holds.get(dataset) ?? null,
          attributes_not_provided: state.attributesNotProvided,
        },
      }))
      return { data: await Promise.all(data), meta: { epoch: principal.epoch, request_id: request.id } }
    },
  )
}

/** One page of a list that belongs to no location, packed for those who take it so: a page may have 5,000 records. */
async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { epoch }: Principal,
  data: unknown[],
  { page, items, total, hasMore }: { page: number; items: number; total: number; hasMore: boolean },
): Promise<FastifyReply> {
  const pages = Math.max(1, Math.ceil(total / items))
  const next = hasMore ? page + 1 : null
  if (next !== null) {
    const parameters = new URLSearchParams(rawQuery(request))
    parameters.set('page', String(next))
    reply.header('Link', `<?${parameters}>; rel="next"`)
  }
  const body = {
    data,
    pagy: { total, items, page, pages },
    meta: { has_more: next !== null, next_page: next, epoch, request_id: request.id },
  }
  await sendBody(reply, {
    body: JSON.stringify(body),
    onHeld: (bytes) => keepBytes(request, bytes),
    coding: acceptedCoding(request.headers['accept-encoding']),
  })
  return reply
}

function renderOrganization(organization: GrantedOrganization) {
  return {
    id: organization.id,
    type: 'organization',
    attributes: {
      name: organization.name,
      external_reference: organization.externalReference,
      time_zone: organization.timeZone,
      country: organization.country,
      locations_count: organization.locationsCount,
      datasets_granted: organization.datasetsGranted,
      granted_at: organization.grantedAt,
      created_at: organization.createdAt,
      updated_at: organization.updatedAt,
    },
  }
}

function renderLocation(location: GrantedLocation, times: SyncTimes, state: FreshnessState) {
  return {
    id: location.id,
    type: 'location',
    attributes: {
      name: location.name,
      organization_id: location.organizationId,
      address_line_1: location.addressLine1,
      address_line_2: location.addressLine2,
      city: location.city,
      state: location.state,
      postal_code: location.postalCode,
      country: location.country,
      phone: location.phone,
      email: location.email,
      website_url: location.websiteUrl,
      time_zone: location.timeZone,
      currency: location.currency,
      is_active: location.isActive,
      practice_management_system: location.practiceManagementSystem,
      attribution_script: {
        is_installed: location.attributionScript.isInstalled,
        installed_at: location.attributionScript.installedAt,
        last_seen_at: location.attributionScript.lastSeenAt,
      },
      sync: {
        state,
        initial_sync_completed_at: times.initialSyncCompletedAt,
        synced_at: times.syncedAt,
      },
      datasets_granted: location.datasetsGranted,
      created_at: location.createdAt,
      updated_at: location.updatedAt,
    },
  }
}
