import { type Counted, type GrantScope, grantAccess, revokeAccess } from '../../modules/consent/grant.ts'
import { requireCompany } from '../../modules/directory/company.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { completeLocations } from '../../modules/onboarding/complete-locations.ts'
import { listGrants } from '../../modules/overview/grant.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import type { Noun } from './command-line.ts'
import type { Given } from './given.ts'

const scope = {
  company: { value: '<id>', isRequired: true, help: 'the vendor company' },
  organization: { value: '<id>', isRequired: true, help: 'the practice owner' },
  location: {
    value: '<id>|all',
    isRequired: true,
    isRepeatable: true,
    help: 'a location, several, or all with those to come',
  },
  dataset: {
    value: '<name>|all',
    isRequired: true,
    isRepeatable: true,
    help: 'a dataset, several, or all that there are now',
  },
  by: { value: '<text>', help: 'who at the practice decided, for its history; without it, "operator"' },
}

export const grant: Noun = {
  help: 'what practices opened to companies',
  verbs: {
    add: {
      help: 'Lets a company read, from its next request on.',
      options: scope,
      run: async ({ pool }, given) => {
        await completeLocations(pool)
        const data = await grantAccess(pool, readScope(given))
        return { data, text: `Opened ${counted(data)}.` }
      },
    },
    remove: {
      help: 'Ends what a company may read, from its next request on.',
      options: scope,
      run: async ({ pool }, given) => {
        const data = await revokeAccess(pool, readScope(given))
        return { data, text: `Closed ${counted(data)}.` }
      },
    },
    list: {
      help: 'The grants in force, of everybody or as narrowed.',
      options: {
        company: { value: '<id>', help: 'only to this company' },
        organization: { value: '<id>', help: 'only by this practice owner' },
        ended: { value: null, help: 'also those that were ended' },
      },
      run: async ({ pool }, given) => {
        const companyId = given.findUuid<CompanyId>('company')
        const organizationId = given.findNumericId<OrganizationId>('organization')
        if (companyId !== undefined) await requireCompany(pool, companyId)
        if (organizationId !== undefined) await requireOrganization(pool, organizationId)
        const data = await listGrants(pool, { companyId, organizationId, withEnded: given.has('ended') })
        const rows = data.map((each) => [
          each.companyName,
          each.organizationName,
          each.locationId === null ? 'all' : `${each.locationId} ${each.locationName}`,
          each.dataset,
          each.grantedAt,
          each.grantedBy,
          ...(given.has('ended') ? [each.revokedAt, each.revokedBy] : []),
        ])
        const ended = given.has('ended') ? ['ended', 'ended by'] : []
        return {
          data,
          text: table(['company', 'organization', 'location', 'dataset', 'granted', 'by', ...ended], rows),
        }
      },
    },
  },
}

function readScope(given: Given): GrantScope {
  return {
    companyId: given.uuid<CompanyId>('company'),
    organizationId: given.numericId<OrganizationId>('organization'),
    locationIds: given.locations('location'),
    datasets: given.datasets('dataset'),
    by: given.find('by') ?? 'operator',
  }
}

function counted({ locations, datasets }: Counted): string {
  if (datasets === 0) return 'nothing: it was so already'
  return `${datasets} ${datasets === 1 ? 'dataset' : 'datasets'} of ${locations} ${locations === 1 ? 'location' : 'locations, together'}`
}
