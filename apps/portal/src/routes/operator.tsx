import { createRoute } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { membersQueries } from '../pages/members/members.ts'
import { loadUnread, noticesQueries } from '../pages/notices/notices.ts'
import { companyQuery, companySearch } from '../pages/operator/company-search.ts'
import { listQuery, listSearch } from '../ui/url-state.ts'
import { lazy, listed, load, signedIn } from './signed-in.tsx'

const operator = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator',
  loader: () => loadUnread('operator'),
})

const operatorOverview = createRoute({
  getParentRoute: () => operator,
  path: '/',
  loader: () => load(read('getOperatorOverview')),
  component: lazy(() => import('../pages/operator/OverviewPage.tsx'), 'OverviewPage'),
})

const operatorCompanies = createRoute({
  getParentRoute: () => operator,
  path: '/companies',
  validateSearch: companySearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => load(read('listOperatorCompanies', { query: companyQuery(deps) })),
  component: lazy(() => import('../pages/operator/CompaniesPage.tsx'), 'CompaniesPage'),
})

const operatorOrganizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  ...listed,
  loader: ({ deps }) => load(read('listOperatorOrganizations', { query: listQuery(deps) })),
  component: lazy(() => import('../pages/operator/OrganizationsPage.tsx'), 'OrganizationsPage'),
})

const operatorAgents = createRoute({
  getParentRoute: () => operator,
  path: '/agents',
  ...listed,
  loader: ({ deps }) => load(read('listOperatorAgents', { query: listQuery(deps) })),
  component: lazy(() => import('../pages/operator/AgentsPage.tsx'), 'AgentsPage'),
})

const jobs = createRoute({
  getParentRoute: () => operator,
  path: '/jobs',
  loader: () => load(read('getJobs')),
  component: lazy(() => import('../pages/operator/JobsPage.tsx'), 'JobsPage'),
})

const limits = createRoute({
  getParentRoute: () => operator,
  path: '/limits',
  loader: () => load(read('getLimits')),
  component: lazy(() => import('../pages/operator/LimitsPage.tsx'), 'LimitsPage'),
})

const agreements = createRoute({
  getParentRoute: () => operator,
  path: '/agreements',
  loader: () => load(read('listAgreements')),
  component: lazy(() => import('../pages/operator/AgreementsPage.tsx'), 'AgreementsPage'),
})

const operators = createRoute({
  getParentRoute: () => operator,
  path: '/members',
  validateSearch: listSearch,
  loader: () => load(...membersQueries('operator')),
  component: lazy(() => import('../pages/members/MembersPage.tsx'), 'MembersPage'),
})

const operatorHistory = createRoute({
  getParentRoute: () => operator,
  path: '/history',
  ...listed,
  loader: ({ deps }) => load(read('listOperatorEvents', { query: listQuery(deps) })),
  component: lazy(() => import('../pages/operator/HistoryPage.tsx'), 'HistoryPage'),
})

const operatorNotices = createRoute({
  getParentRoute: () => operator,
  path: '/notices',
  ...listed,
  loader: ({ deps }) => load(...noticesQueries('operator', deps)),
  component: lazy(() => import('../pages/notices/NoticesPage.tsx'), 'NoticesPage'),
})

/** The operator side. */
export const operatorRoutes = operator.addChildren([
  operatorOverview,
  operatorCompanies,
  operatorOrganizations,
  operatorAgents,
  jobs,
  limits,
  agreements,
  operatorNotices,
  operators,
  operatorHistory,
])
