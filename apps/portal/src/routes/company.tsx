import { createRoute } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { queryClient } from '../api/query-client.ts'
import { snippetSearch } from '../pages/company/keys/snippets.ts'
import { errorsQuery, filterOf, logsSearch, requestsQuery } from '../pages/company/logs/logs-search.ts'
import { usageSearch } from '../pages/company/usage/usage-search.ts'
import { historyListed, historyQuery } from '../pages/history/history-search.ts'
import { membersQueries } from '../pages/members/members.ts'
import { loadFrame, noticesQueries } from '../pages/notices/notices.ts'
import { listQuery, listSearch } from '../ui/state/url-state.ts'
import { lazy, listed, load, signedIn } from './signed-in.tsx'

const company = createRoute({
  getParentRoute: () => signedIn,
  path: '/company/$company_id',
  loader: ({ params: { company_id: tenant_id }, preload }) => loadFrame(tenant_id, preload),
})

const companyOverview = createRoute({
  getParentRoute: () => company,
  path: '/',
  loader: ({ params }) => load(read('getCompany', { params }), read('getUsage', { params, query: { range: '24h' } })),
  component: lazy(() => import('../pages/company/OverviewPage.tsx'), 'OverviewPage'),
})

const quickstart = createRoute({
  getParentRoute: () => company,
  path: '/quickstart',
  validateSearch: snippetSearch,
  loader: ({ params }) => load(read('getCompany', { params }), read('getEnvironment')),
  component: lazy(() => import('../pages/company/keys/QuickstartPage.tsx'), 'QuickstartPage'),
})

const keys = createRoute({
  getParentRoute: () => company,
  path: '/keys',
  validateSearch: listSearch,
  loader: ({ params }) => load(read('getCompany', { params }), read('listKeyPairs', { params })),
  component: lazy(() => import('../pages/company/keys/KeysPage.tsx'), 'KeysPage'),
})

const webhooks = createRoute({
  getParentRoute: () => company,
  path: '/webhooks',
  loader: ({ params }) => load(read('getCompany', { params }), read('listWebhooks', { params })),
  component: lazy(() => import('../pages/company/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
})

const agreement = createRoute({
  getParentRoute: () => company,
  path: '/agreement',
  loader: ({ params }) => load(read('getCompany', { params }), read('getAgreement', { params })),
  component: lazy(() => import('../pages/company/AgreementPage.tsx'), 'AgreementPage'),
})

const connections = createRoute({
  getParentRoute: () => company,
  path: '/connections',
  ...listed,
  loader: ({ params, deps }) =>
    load(
      read('getCompany', { params }),
      read('listConnections', { params, query: listQuery(deps) }),
      read('listEndedAccess', { params }),
      read('listAccessRequests', { params }),
    ),
  component: lazy(() => import('../pages/company/ConnectionsPage.tsx'), 'ConnectionsPage'),
})

const sandbox = createRoute({
  getParentRoute: () => company,
  path: '/sandbox',
  loader: ({ params }) => load(read('getSandbox', { params })),
  component: lazy(() => import('../pages/company/sandbox/SandboxPage.tsx'), 'SandboxPage'),
})

const usage = createRoute({
  getParentRoute: () => company,
  path: '/usage',
  validateSearch: usageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => load(read('getUsage', { params, query: { range: deps.range ?? '24h' } })),
  component: lazy(() => import('../pages/company/usage/UsagePage.tsx'), 'UsagePage'),
})

const logs = createRoute({
  getParentRoute: () => company,
  path: '/logs',
  validateSearch: logsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) =>
    Promise.all([
      load(read('listPractices', { params }), read('getEnvironment')),
      deps.view === 'errors'
        ? load(errorsQuery(params.company_id, filterOf(deps)))
        : queryClient.ensureInfiniteQueryData(requestsQuery(params.company_id, filterOf(deps))),
    ]),
  component: lazy(() => import('../pages/company/logs/LogsPage.tsx'), 'LogsPage'),
})

const connectedLocation = createRoute({
  getParentRoute: () => company,
  path: '/connections/$location_id',
  loader: ({ params }) => load(read('getConnectedLocation', { params }), read('getEnvironment')),
  component: lazy(() => import('../pages/company/ConnectedLocationPage.tsx'), 'ConnectedLocationPage'),
})

const companyIdentityProvider = createRoute({
  getParentRoute: () => company,
  path: '/identity-provider',
  loader: ({ params: { company_id: tenant_id } }) => load(read('getIdentityProvider', { params: { tenant_id } })),
  component: lazy(() => import('../pages/identity-provider/IdentityProviderPage.tsx'), 'IdentityProviderPage'),
})

const companyMembers = createRoute({
  getParentRoute: () => company,
  path: '/members',
  validateSearch: listSearch,
  loader: ({ params: { company_id: tenant_id } }) => load(...membersQueries(tenant_id)),
  component: lazy(() => import('../pages/members/MembersPage.tsx'), 'MembersPage'),
})

const companyHistory = createRoute({
  getParentRoute: () => company,
  path: '/history',
  ...historyListed,
  loader: ({ params, deps }) => load(read('listCompanyEvents', { params, query: historyQuery(deps) })),
  component: lazy(() => import('../pages/company/CompanyHistoryPage.tsx'), 'CompanyHistoryPage'),
})

const companySettings = createRoute({
  getParentRoute: () => company,
  path: '/settings',
  loader: ({ params }) => load(read('getCompany', { params }), read('getCompanyProfile', { params })),
  component: lazy(() => import('../pages/company/CompanySettingsPage.tsx'), 'CompanySettingsPage'),
})

const companyNotices = createRoute({
  getParentRoute: () => company,
  path: '/notices',
  ...listed,
  loader: ({ params: { company_id: tenant_id }, deps }) => load(...noticesQueries(tenant_id, deps)),
  component: lazy(() => import('../pages/notices/NoticesPage.tsx'), 'NoticesPage'),
})

/** The company side. */
export const companyRoutes = company.addChildren([
  companyOverview,
  quickstart,
  keys,
  webhooks,
  agreement,
  connections,
  sandbox,
  usage,
  logs,
  connectedLocation,
  companyNotices,
  companyMembers,
  companyIdentityProvider,
  companyHistory,
  companySettings,
])
