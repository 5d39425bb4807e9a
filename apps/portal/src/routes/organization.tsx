import type { TimelineRange } from '@bridgework/contract/portal'
import { createRoute } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { queryClient } from '../api/query-client.ts'
import { historyListed, historyQuery } from '../pages/history/history-search.ts'
import { membersQueries } from '../pages/members/members.ts'
import { loadFrame, noticesQueries } from '../pages/notices/notices.ts'
import { vendorsQuery, vendorsSearch } from '../pages/organization/access/vendors-search.ts'
import {
  acceptedDisclosureFilter,
  disclosureDaysQuery,
  disclosureSearch,
} from '../pages/organization/disclosures/disclosures.ts'
import { waitingQuery } from '../pages/organization/waiting.ts'
import { oneOf, textOf } from '../shell/plain-search.ts'
import { type ListSearch, listQuery, listSearch } from '../ui/state/url-state.ts'
import { lazy, listed, load, signedIn } from './signed-in.tsx'

const organization = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/$organization_id',
  loader: ({ params: { organization_id }, preload }) =>
    // The menu's numbers cannot fail a page.
    Promise.all([loadFrame(organization_id, preload), queryClient.prefetchQuery(waitingQuery(organization_id))]),
})

const organizationOverview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  loader: ({ params }) => load(read('getOrganization', { params }), read('listReaders', { params })),
  component: lazy(() => import('../pages/organization/overview/OverviewPage.tsx'), 'OverviewPage'),
})

const locations = createRoute({
  getParentRoute: () => organization,
  path: '/locations',
  ...listed,
  loader: ({ params, deps }) => load(read('listLocations', { params, query: listQuery(deps) })),
  component: lazy(() => import('../pages/organization/locations/LocationsPage.tsx'), 'LocationsPage'),
})

const location = createRoute({
  getParentRoute: () => organization,
  path: '/locations/$location_id',
  validateSearch: (search): { range?: TimelineRange } => ({ range: oneOf(search, 'range', ['24h', '7d']) ?? '24h' }),
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) =>
    Promise.all([
      load(read('getLocation', { params, query: { range: deps.range } })),
      load(read('listAgents', { params })),
    ]),
  component: lazy(() => import('../pages/organization/locations/LocationPage.tsx'), 'LocationPage'),
})

const agents = createRoute({
  getParentRoute: () => organization,
  path: '/agents',
  validateSearch: listSearch,
  loader: ({ params }) => load(read('listAgents', { params })),
  component: lazy(() => import('../pages/organization/locations/AgentsPage.tsx'), 'AgentsPage'),
})

const removals = createRoute({
  getParentRoute: () => organization,
  path: '/removals',
  validateSearch: listSearch,
  loader: ({ params }) => load(read('listRemovals', { params })),
  component: lazy(() => import('../pages/organization/removals/RemovalsPage.tsx'), 'RemovalsPage'),
})

const removal = createRoute({
  getParentRoute: () => organization,
  path: '/removals/$location_id/$dataset',
  loader: ({ params }) => load(read('previewRemoval', { params })),
  component: lazy(() => import('../pages/organization/removals/RemovalPage.tsx'), 'RemovalPage'),
})

const vendors = createRoute({
  getParentRoute: () => organization,
  path: '/vendors',
  validateSearch: vendorsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) =>
    load(
      read('listVendors', { params, query: vendorsQuery(deps) }),
      read('listVendorRequests', { params }),
      read('getOrganization', { params }),
    ),
  component: lazy(() => import('../pages/organization/access/VendorsPage.tsx'), 'VendorsPage'),
})

const vendor = createRoute({
  getParentRoute: () => organization,
  path: '/vendors/$company_id',
  validateSearch: listSearch,
  loader: ({ params: { organization_id, company_id } }) =>
    load(
      read('getVendor', { params: { organization_id, company_id } }),
      read('getOrganization', { params: { organization_id } }),
      read('listVendorRequests', { params: { organization_id } }),
    ),
  component: lazy(() => import('../pages/organization/access/VendorPage.tsx'), 'VendorPage'),
})

const accessReview = createRoute({
  getParentRoute: () => organization,
  path: '/access-review',
  loader: ({ params }) => load(read('listReaders', { params }), read('getOrganization', { params })),
  component: lazy(() => import('../pages/organization/access/AccessReviewPage.tsx'), 'AccessReviewPage'),
})

const grants = createRoute({
  getParentRoute: () => organization,
  path: '/grants',
  ...listed,
  loader: ({ params, deps }) => load(read('listGrants', { params, query: listQuery(deps) })),
  component: lazy(() => import('../pages/organization/access/GrantsPage.tsx'), 'GrantsPage'),
})

const disclosures = createRoute({
  getParentRoute: () => organization,
  path: '/disclosures',
  validateSearch: disclosureSearch,
  loaderDeps: ({ search }) => acceptedDisclosureFilter(search),
  loader: ({ params, deps }) =>
    Promise.all([
      load(
        read('getOrganization', { params }),
        read('summarizeDisclosures', { params, query: deps }),
        // What the filters offer before anything is typed.
        read('listVendors', { params, query: { search: '' } }),
        read('listLocations', { params, query: { search: '' } }),
        read('getSealKey', { params }),
      ),
      queryClient.ensureInfiniteQueryData(disclosureDaysQuery(params.organization_id, deps)),
    ]),
  component: lazy(() => import('../pages/organization/disclosures/DisclosuresPage.tsx'), 'DisclosuresPage'),
})

const attribution = createRoute({
  getParentRoute: () => organization,
  path: '/attribution',
  validateSearch: (search): ListSearch & { open?: string | undefined } => ({
    ...listSearch(search),
    open: textOf(search, 'open'),
  }),
  loaderDeps: ({ search }) => ({ ...listSearch(search) }),
  loader: ({ params, deps }) => load(read('listAttribution', { params, query: listQuery(deps) })),
  component: lazy(() => import('../pages/organization/AttributionPage.tsx'), 'AttributionPage'),
})

const organizationIdentityProvider = createRoute({
  getParentRoute: () => organization,
  path: '/identity-provider',
  loader: ({ params: { organization_id: tenant_id } }) => load(read('getIdentityProvider', { params: { tenant_id } })),
  component: lazy(() => import('../pages/identity-provider/IdentityProviderPage.tsx'), 'IdentityProviderPage'),
})

const organizationMembers = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  validateSearch: listSearch,
  loader: ({ params: { organization_id: tenant_id } }) => load(...membersQueries(tenant_id)),
  component: lazy(() => import('../pages/members/MembersPage.tsx'), 'MembersPage'),
})

const organizationHistory = createRoute({
  getParentRoute: () => organization,
  path: '/history',
  ...historyListed,
  loader: ({ params, deps }) => load(read('listOrganizationEvents', { params, query: historyQuery(deps) })),
  component: lazy(() => import('../pages/organization/OrganizationHistoryPage.tsx'), 'OrganizationHistoryPage'),
})

const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  loader: ({ params }) => load(read('getOrganization', { params })),
  component: lazy(() => import('../pages/organization/OrganizationSettingsPage.tsx'), 'OrganizationSettingsPage'),
})

const organizationNotices = createRoute({
  getParentRoute: () => organization,
  path: '/notices',
  ...listed,
  loader: ({ params: { organization_id: tenant_id }, deps }) => load(...noticesQueries(tenant_id, deps)),
  component: lazy(() => import('../pages/notices/NoticesPage.tsx'), 'NoticesPage'),
})

/** The practice side. */
export const organizationRoutes = organization.addChildren([
  organizationOverview,
  locations,
  location,
  agents,
  removals,
  removal,
  vendors,
  vendor,
  accessReview,
  grants,
  disclosures,
  attribution,
  organizationNotices,
  organizationMembers,
  organizationIdentityProvider,
  organizationHistory,
  organizationSettings,
])
