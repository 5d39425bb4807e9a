import { recordAccessChange } from '../../../modules/consent/access-act.ts'
import {
  type AccessChange,
  type Counted,
  type GrantScope,
  type GrantTerms,
  grantAccess,
  revokeAccess,
} from '../../../modules/consent/grant.ts'
import { requireCompany } from '../../../modules/directory/company.ts'
import { endOfDay, requireOrganization } from '../../../modules/directory/organization.ts'
import { completeLocations } from '../../../modules/onboarding/complete-locations.ts'
import { listGrants } from '../../../modules/overview/grant.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import type { RecordAct } from '../act.ts'
import { table } from '../answer.ts'
import { type CommandGroup, command, type Values } from '../command-line.ts'
import { datasetName, flag, numericId, optional, required, severalOrAll, text, uuid } from '../option.ts'

const scope = {
  company: required('<id>', 'the vendor company', uuid<CompanyId>),
  organization: required('<id>', 'the practice owner', numericId<OrganizationId>),
  location: severalOrAll('<id>', 'a location, several, or all with future ones', numericId<LocationId>),
  dataset: severalOrAll('<name>', 'a dataset, several, or all that exist now', datasetName),
  notes: flag('with the notes of the datasets that have them, which staff wrote'),
  by: optional('<text>', 'who at the practice decided, for its history (default: "operator")', text),
}

export const grant: CommandGroup = {
  help: 'what practices granted to companies',
  commands: {
    add: command({
      help: 'Grants a company access, from its next request on.',
      act: 'grant.change',
      options: {
        ...scope,
        purpose: optional('<text>', 'what the access is for', text),
        until: optional('<day>', 'its last day, like 2027-12-31: ends all that the company may read there', text),
      },
      run: async ({ pool }, { purpose, until, ...scope }, record) => {
        await completeLocations(pool)
        const endsAt = until === undefined ? undefined : await endOfDay(pool, scope.organization, until)
        const termsOf = (now: GrantTerms) => ({ purpose: purpose ?? now.purpose, endsAt: endsAt ?? now.endsAt })
        const data = await grantAccess(pool, { ...scopeOf(scope), termsOf }, (client, change) =>
          recordChange(client, record, scope, change),
        )
        return { data, text: `Granted ${counted(data)}.` }
      },
    }),
    remove: command({
      help: 'Revokes a company’s access, from its next request on.',
      act: 'grant.revoke',
      options: { ...scope, notes: flag('only the notes: the datasets stay granted') },
      run: async ({ pool }, scope, record) => {
        const data = await revokeAccess(pool, scopeOf(scope), (client, change) =>
          recordChange(client, record, scope, change),
        )
        return { data, text: `Revoked ${scope.notes && data.datasets > 0 ? 'the notes of ' : ''}${counted(data)}.` }
      },
    }),
    list: command({
      help: 'Lists the grants in force, of all companies or of those that you name.',
      act: null,
      options: {
        company: optional('<id>', 'only to this company', uuid<CompanyId>),
        organization: optional('<id>', 'only by this practice owner', numericId<OrganizationId>),
        ended: flag('also those that were ended'),
      },
      run: async ({ pool }, { company: companyId, organization: organizationId, ended: withEnded = false }) => {
        if (companyId !== undefined) await requireCompany(pool, companyId)
        if (organizationId !== undefined) await requireOrganization(pool, organizationId)
        const data = await listGrants(pool, { companyId, organizationId, withEnded })
        const rows = data.map((each) => [
          each.companyName,
          each.organizationName,
          each.locationId === null ? 'all' : `${each.locationId} ${each.locationName}`,
          each.notes ? `${each.dataset} with notes` : each.dataset,
          each.grantedAt,
          each.grantedBy,
          ...(withEnded ? [each.revokedAt, each.revokedBy] : []),
        ])
        const ended = withEnded ? ['ended', 'ended by'] : []
        return {
          data,
          text: table(['company', 'organization', 'location', 'dataset', 'granted', 'by', ...ended], rows),
        }
      },
    }),
  },
}

function scopeOf(values: Values<typeof scope>): GrantScope {
  const { company, organization, location, dataset, notes = false, by = 'operator' } = values
  return { companyId: company, organizationId: organization, locationIds: location, datasets: dataset, notes, by }
}

async function recordChange(
  client: Queryable,
  record: RecordAct<'grant.change'>,
  { company, organization, by }: Values<typeof scope>,
  change: AccessChange,
): Promise<void> {
  const decided = by === undefined ? {} : { decidedBy: by }
  const parties = { companyId: company, organizationId: organization }
  await recordAccessChange(client, parties, change, (facts) =>
    record(client, { ...facts, ...decided }, { side: 'organization', id: organization }),
  )
}

function counted({ locations, datasets }: Counted): string {
  if (datasets === 0) return 'nothing: it was so already'
  return `${datasets} ${datasets === 1 ? 'dataset' : 'datasets'} of ${locations} ${locations === 1 ? 'location' : 'locations, together'}`
}
