import type { AgreementPage, AgreementState, CompanyPage, PortalAnswers } from '@bridgework/contract/portal'
import { recordAudit } from '../../../modules/audit/store.ts'
import { organizationsGranting } from '../../../modules/consent/grant.ts'
import {
  acceptAgreement,
  agreementInForce,
  findRequiredAgreement,
  type AgreementState as StoredState,
} from '../../../modules/credentials/agreement.ts'
import {
  generateKeyPair,
  listKeyPairs,
  type NewKeyPair,
  regenerateKeyPair,
  requireLiveKeyPair,
  revokeKeyPair,
} from '../../../modules/credentials/key-pair.ts'
import { renameCompany, requireCompany } from '../../../modules/directory/company.ts'
import { memberNames } from '../../../modules/membership/member.ts'
import { countConnections, listGrantingOrganizations } from '../../../modules/overview/connection.ts'
import { listEndedAccess } from '../../../modules/overview/ended-access.ts'
import { lastUsesOf } from '../../../modules/usage/store.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type CompanyId, type LocationId, parseNumericId } from '../../../platform/identity/identity.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalContext, PortalHandlers } from '../shared/context.ts'
import { readListPage } from '../shared/list.ts'
import { listMembersOf } from '../shared/members.ts'
import type { Membership } from '../shared/membership.ts'
import { connectedLocation, connectionsPage } from './connections.ts'

/** What the people of a vendor company do and see, but for who belongs to it. */
export const companyHandlers: PortalHandlers<
  | 'getCompany'
  | 'updateCompany'
  | 'getAgreement'
  | 'acceptAgreement'
  | 'listKeyPairs'
  | 'generateKeyPair'
  | 'regenerateKeyPair'
  | 'revokeKeyPair'
  | 'listConnections'
  | 'listPractices'
  | 'getConnectedLocation'
  | 'listEndedAccess'
> = {
  getCompany: async ({ pool }, { member, person }) => {
    const { companyId } = member
    const [company, members, agreement, pairs, connections] = await Promise.all([
      requireCompany(pool, companyId),
      listMembersOf(pool, { side: 'company', id: companyId }, person),
      agreementInForce(pool, companyId),
      listKeyPairs(pool, companyId),
      countConnections(pool, companyId),
    ])
    const owner = members.find((each) => each.role === 'owner')
    const pair = pairs.find((each) => each.state.state === 'live')
    const lastUse = pair && (await lastUsesOf(pool, [pair.id])).get(pair.id)
    return {
      id: company.id,
      name: company.name,
      state: company.state,
      created_at: company.createdAt.toISOString(),
      owner: { name: owner?.name ?? '', email: owner?.email ?? '' },
      agreement: toAgreementState(agreement),
      key_pair: pair
        ? {
            client_id: pair.clientId,
            created_at: pair.createdAt.toISOString(),
            last_used_at: lastUse?.toISOString() ?? null,
          }
        : null,
      connections,
    } satisfies CompanyPage
  },

  updateCompany: async ({ pool }, call) => {
    await withTransaction(pool, async (client) => {
      const { companyId } = call.member
      const { name, former } = await renameCompany(client, companyId, call.body.name)
      await recordAudit(client, entryOf(call, 'company.update', { name }))
      if (name !== former) await announceRename(client, companyId, former, name)
    })
    return { done: true }
  },

  getAgreement: ({ pool }, { member }) => agreementPage(pool, member),

  acceptAgreement: async ({ pool }, call) => {
    const { companyId, memberId } = call.member
    const { version } = call.body
    await acceptAgreement(pool, { companyId, memberId, version }, (client) =>
      recordAudit(client, entryOf(call, 'agreement.accept', { version })),
    )
    return await agreementPage(pool, call.member)
  },

  listKeyPairs: async ({ pool }, { member }) => {
    const [pairs, names] = await Promise.all([
      listKeyPairs(pool, member.companyId),
      memberNames(pool, member.companyId),
    ])
    const uses = await lastUsesOf(
      pool,
      pairs.map((pair) => pair.id),
    )
    const data = pairs.map((pair) => {
      const ended = pair.state.state === 'revoked' ? pair.state : null
      return {
        id: pair.id,
        client_id: pair.clientId,
        created_at: pair.createdAt.toISOString(),
        created_by: (pair.createdBy && names.get(pair.createdBy)) ?? null,
        state: pair.state.state,
        revoked_at: ended?.revokedAt.toISOString() ?? null,
        revoked_by: (ended?.revokedBy && names.get(ended.revokedBy)) ?? null,
        last_used_at: uses.get(pair.id)?.toISOString() ?? null,
      }
    })
    return { data }
  },

  generateKeyPair: async ({ pool, secretKey }, call) => {
    const { companyId, memberId } = call.member
    const pair = await generateKeyPair(pool, secretKey, { companyId, memberId }, (client, { clientId }) =>
      recordAudit(client, entryOf(call, 'key_pair.generate', { clientId })),
    )
    return toNewKeyPair(pair)
  },

  regenerateKeyPair: async ({ pool, secretKey }, call) => {
    const { companyId, memberId } = call.member
    const replacing = call.body.client_id
    try {
      const pair = await regenerateKeyPair(
        pool,
        secretKey,
        { companyId, memberId, replacing },
        (client, { clientId }) =>
          recordAudit(client, entryOf(call, 'key_pair.generate', { clientId, replaced: replacing })),
      )
      return toNewKeyPair(pair)
    } catch (error) {
      // The second of two clicks changes nothing, and is on record all the same: the history shows that both were tried.
      if (error instanceof Problem && error.code === 'key_pair_not_live') {
        await recordAudit(pool, entryOf(call, 'key_pair.generate', { replaced: replacing }))
      }
      throw error
    }
  },

  revokeKeyPair: async ({ pool }, call) => {
    const { companyId, memberId } = call.member
    const clientId = call.body.client_id
    await withTransaction(pool, async (client) => {
      await requireLiveKeyPair(client, companyId, clientId)
      await revokeKeyPair(client, { companyId, memberId })
      await recordAudit(client, entryOf(call, 'key_pair.revoke', { clientId }))
    })
    return { done: true }
  },

  listConnections: (context, { member, query }) => connectionsPage(context, member.companyId, readListPage(query)),

  listPractices: async ({ pool }, { member }) => ({
    data: await listGrantingOrganizations(pool, member.companyId, practicesMax),
  }),

  getConnectedLocation: (context, { member, params }) =>
    connectedLocation(context, member, parseNumericId<LocationId>(params.location_id ?? '')),

  listEndedAccess: async ({ pool }, { member }) => ({
    data: (await listEndedAccess(pool, member.companyId)).map((each) => ({
      organization_id: each.organizationId,
      organization_name: each.organizationName,
      ended_at: each.endedAt.toISOString(),
      datasets: each.datasets.map(({ dataset, isNotesAlone, isEverywhere, locations, names }) => ({
        dataset,
        notes_alone: isNotesAlone,
        locations,
        location_names: isEverywhere ? null : names,
      })),
    })),
  }),
}

const practicesMax = 1_000

/** Puts a rename into the history of every practice that grants the company something. Who of the company did it is its own business. */
async function announceRename(client: Queryable, companyId: CompanyId, former: string, name: string): Promise<void> {
  for (const tenantId of await organizationsGranting(client, companyId)) {
    await recordAudit(client, {
      side: 'organization',
      tenantId,
      userId: null,
      actor: name,
      action: 'company.rename',
      facts: { former, name },
      ip: null,
      requestId: null,
    })
  }
}

/** The one place where a secret leaves the service for a person. */
function toNewKeyPair({ clientId, clientSecret }: NewKeyPair): PortalAnswers['generateKeyPair'] {
  return { client_id: clientId, client_secret: clientSecret }
}

async function agreementPage(
  pool: PortalContext['pool'],
  { companyId }: Membership<'company'>,
): Promise<AgreementPage> {
  const [agreement, names, required] = await Promise.all([
    agreementInForce(pool, companyId),
    memberNames(pool, companyId),
    findRequiredAgreement(pool),
  ])
  if (!agreement.current) throw new Error('no agreement has been published')
  return {
    ...toAgreementState(agreement),
    body: agreement.current.body,
    published_at: agreement.current.publishedAt.toISOString(),
    accepted_at: agreement.acceptedAt?.toISOString() ?? null,
    accepted_by: (agreement.acceptedBy && names.get(agreement.acceptedBy)) ?? null,
    required_now: required && { version: required.version, since: required.enforcedAt.toISOString() },
  }
}

function toAgreementState({ current, acceptedVersion, isInForce }: StoredState): AgreementState {
  const isAccepted = current !== null && current.version === acceptedVersion
  return {
    current_version: current?.version ?? 0,
    accepted_version: acceptedVersion,
    is_in_force: isInForce,
    required_at: isAccepted ? null : (current?.enforcedAt.toISOString() ?? null),
  }
}
