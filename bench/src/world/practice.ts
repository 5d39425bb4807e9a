import { datasetNames } from '@bridgework/contract'
import { createEnrolmentCode, enrollAgent } from '@bridgework/server/src/modules/agents/agent-key.ts'
import { grantAccess } from '@bridgework/server/src/modules/consent/grant.ts'
import { acceptAgreement, ensureFirstAgreement } from '@bridgework/server/src/modules/credentials/agreement.ts'
import { generateKeyPair } from '@bridgework/server/src/modules/credentials/key-pair.ts'
import { loadSecretKey } from '@bridgework/server/src/modules/credentials/secret-key-file.ts'
import { createOrganization } from '@bridgework/server/src/modules/directory/organization.ts'
import { createCompany } from '@bridgework/server/src/modules/membership/create-tenant.ts'
import { createLocation } from '@bridgework/server/src/modules/onboarding/upsert-locations.ts'
import { connectEmbedded } from '@bridgework/server/src/platform/database/embedded/embedded-postgres.ts'
import type { AgentId, OrganizationId } from '@bridgework/server/src/platform/identity/identity.ts'
import pg from 'pg'
import type { ThrowAwayServer } from './throw-away-server.ts'

/** A practice with an agent, and a vendor that may read all of it. */
export type World = {
  server: ThrowAwayServer
  organizationId: OrganizationId
  locationIds: string[]
  agent: { agentId: AgentId; agentKey: string }
  vendor: { clientId: string; clientSecret: string; token: string }
  /** Of the embedded database: a superuser, and the owner of the schema. */
  adminUrl: string
  ownerUrl: string
}

/** Fills a running server's directory as the operator's commands do, and gets the vendor its token over HTTP. `name`: the vendor's. */
export async function createWorld(
  server: ThrowAwayServer,
  options: { locations: number; name?: string },
): Promise<World> {
  const { name = 'Vendor' } = options
  const { adminUrl, ownerUrl, serverUrl, close } = await connectEmbedded(server.dataDir, { log: () => {} })
  const pool = new pg.Pool({ connectionString: serverUrl, max: 2 })
  pool.on('error', () => {})
  try {
    const secretKey = loadSecretKey(server)
    const organization = await createOrganization(pool, {
      name: options.name === undefined ? 'Practice' : `Practice of ${options.name}`,
    })
    const locationIds = []
    for (let number = 1; number <= options.locations; number += 1) {
      const source = { sourceId: String(number), name: `Location ${number}` }
      locationIds.push((await createLocation(pool, organization.id, source)).id)
    }
    const owner = { email: `owner@${name.toLowerCase()}.example`, name: 'Owner' }
    const company = await createCompany(pool, { name, owner })
    const by = { companyId: company.company.id, memberId: company.owner.id }
    await ensureFirstAgreement(pool)
    await acceptAgreement(pool, { ...by, version: 1 })
    const { clientId, clientSecret } = await generateKeyPair(pool, secretKey, by)
    await grantAccess(pool, {
      companyId: by.companyId,
      organizationId: organization.id,
      // Also those that an agent will bring.
      locationIds: 'all',
      datasets: [...datasetNames],
      by: 'bench',
    })
    const { code } = await createEnrolmentCode(pool, secretKey, { organizationId: organization.id })
    const { agentId, agentKey } = await enrollAgent(pool, secretKey, { code })
    const token = await getToken(server, clientId, clientSecret)
    return {
      server,
      organizationId: organization.id,
      locationIds,
      agent: { agentId, agentKey },
      vendor: { clientId, clientSecret, token },
      adminUrl,
      ownerUrl,
    }
  } finally {
    await pool.end()
    await close()
  }
}

/** One statement on a connection of its own. */
export async function runSql<T extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<T>(text, values)).rows
  } finally {
    await client.end()
  }
}

async function getToken(server: ThrowAwayServer, clientId: string, clientSecret: string): Promise<string> {
  const answer = await fetch(`${server.vendorUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
  })
  const body = (await answer.json()) as { token?: string }
  if (body.token === undefined) throw new Error(`no token: ${answer.status}`)
  return body.token
}
