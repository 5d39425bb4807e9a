import { createRoute } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { historyListed, historyQuery } from '../pages/history/history-search.ts'
import { membersQueries } from '../pages/members/members.ts'
import { loadFrame, noticesQueries } from '../pages/notices/notices.ts'
import {
  type PlotSearch,
  plotSearch,
  serviceSearch,
  sortedPlotSearch,
  tableSearch,
} from '../pages/operator/plot-search.ts'
import { companyQuery, companySearch } from '../pages/operator/tenants/company-search.ts'
import { listQuery, listSearch, type SortedSearch, sortedQuery, sortedSearch } from '../ui/state/url-state.ts'
import { lazy, listed, load, signedIn } from './signed-in.tsx'

const operator = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator',
  loader: ({ preload }) => loadFrame('operator', preload),
})

/** A list that the server sorts: search, page and column stand in its address. */
const sorted = { validateSearch: sortedSearch, loaderDeps: ({ search }: { search: SortedSearch }) => search }

/** Tables that the browser sorts: the address names the column. */
const tables = { validateSearch: tableSearch }

const operatorOverview = createRoute({
  getParentRoute: () => operator,
  path: '/',
  ...tables,
  loader: () => load(read('getOperatorOverview')),
  component: lazy(() => import('../pages/operator/OverviewPage.tsx'), 'OverviewPage'),
})

const find = createRoute({
  getParentRoute: () => operator,
  path: '/find',
  ...listed,
  loader: ({ deps }) => load(read('findAnything', { query: { search: listQuery(deps).search } })),
  component: lazy(() => import('../pages/operator/FindPage.tsx'), 'FindPage'),
})

const incidents = createRoute({
  getParentRoute: () => operator,
  path: '/incidents',
  loader: () => load(read('listIncidents')),
  component: lazy(() => import('../pages/operator/IncidentsPage.tsx'), 'IncidentsPage'),
})

const operatorCompanies = createRoute({
  getParentRoute: () => operator,
  path: '/companies',
  validateSearch: companySearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => load(read('listOperatorCompanies', { query: companyQuery(deps) })),
  component: lazy(() => import('../pages/operator/tenants/CompaniesPage.tsx'), 'CompaniesPage'),
})

const operatorOrganizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  ...sorted,
  loader: ({ deps }) => load(read('listOperatorOrganizations', { query: sortedQuery('organizations', deps) })),
  component: lazy(() => import('../pages/operator/tenants/OrganizationsPage.tsx'), 'OrganizationsPage'),
})

const operatorAgents = createRoute({
  getParentRoute: () => operator,
  path: '/agents',
  ...sorted,
  loader: ({ deps }) => load(read('listOperatorAgents', { query: sortedQuery('agents', deps) })),
  component: lazy(() => import('../pages/operator/AgentsPage.tsx'), 'AgentsPage'),
})

const operatorPeople = createRoute({
  getParentRoute: () => operator,
  path: '/people',
  ...listed,
  loader: ({ deps }) => load(read('listOperatorPeople', { query: listQuery(deps) })),
  component: lazy(() => import('../pages/operator/PeoplePage.tsx'), 'PeoplePage'),
})

const operatorPerson = createRoute({
  getParentRoute: () => operator,
  path: '/people/$user_id',
  loader: ({ params }) => load(read('getOperatorPerson', { params })),
  component: lazy(() => import('../pages/operator/PersonPage.tsx'), 'PersonPage'),
})

const plotted = {
  validateSearch: plotSearch,
  loaderDeps: ({ search }: { search: PlotSearch }) => search,
}

const plottedWithTable = { ...plotted, validateSearch: sortedPlotSearch }

const operatorCompany = createRoute({
  getParentRoute: () => operator,
  path: '/companies/$company_id',
  ...plotted,
  loader: ({ params, deps: { range } }) => load(read('getOperatorCompany', { params, query: { range } })),
  component: lazy(() => import('../pages/operator/tenants/CompanyPage.tsx'), 'CompanyPage'),
})

const operatorOrganization = createRoute({
  getParentRoute: () => operator,
  path: '/organizations/$organization_id',
  ...plottedWithTable,
  loader: ({ params, deps: { range } }) => load(read('getOperatorOrganization', { params, query: { range } })),
  component: lazy(() => import('../pages/operator/tenants/OrganizationPage.tsx'), 'OrganizationPage'),
})

const operatorAgent = createRoute({
  getParentRoute: () => operator,
  path: '/agents/$agent_id',
  ...plottedWithTable,
  loader: ({ params, deps: { range } }) => load(read('getOperatorAgent', { params, query: { range } })),
  component: lazy(() => import('../pages/operator/AgentPage.tsx'), 'AgentPage'),
})

const operatorLocation = createRoute({
  getParentRoute: () => operator,
  path: '/locations/$location_id',
  ...plottedWithTable,
  loader: ({ params, deps: { range } }) => load(read('getOperatorLocation', { params, query: { range } })),
  component: lazy(() => import('../pages/operator/LocationPage.tsx'), 'LocationPage'),
})

const service = createRoute({
  getParentRoute: () => operator,
  path: '/service',
  validateSearch: serviceSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps: { range = '1h' } }) => load(read('getServicePlot', { query: { range } })),
  component: lazy(() => import('../pages/operator/ServicePage.tsx'), 'ServicePage'),
})

const jobs = createRoute({
  getParentRoute: () => operator,
  path: '/jobs',
  ...tables,
  loader: () => load(read('getJobs')),
  component: lazy(() => import('../pages/operator/JobsPage.tsx'), 'JobsPage'),
})

const limits = createRoute({
  getParentRoute: () => operator,
  path: '/limits',
  ...tables,
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
  ...historyListed,
  loader: ({ deps }) => load(read('listOperatorEvents', { query: historyQuery(deps) })),
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
  find,
  incidents,
  operatorCompanies,
  operatorOrganizations,
  operatorAgents,
  operatorPeople,
  operatorPerson,
  operatorCompany,
  operatorOrganization,
  operatorAgent,
  operatorLocation,
  service,
  jobs,
  limits,
  agreements,
  operatorNotices,
  operators,
  operatorHistory,
])
