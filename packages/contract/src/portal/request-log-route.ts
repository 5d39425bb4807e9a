import type { Route } from './route-entry.ts'

const requestFilter = [
  ...['since', 'until', 'status', 'code', 'route', 'parameter', 'rule'],
  ...['organization_id', 'location_id', 'client_id', 'request_id'],
] as const

/** What a company sees of its requests, and of the practices that they are for. */
export const requestLogRoutes = {
  /** Those that granted the company something. */
  listPractices: { method: 'GET', path: '/companies/:company_id/practices', action: 'connection.read' },
  getUsage: { method: 'GET', path: '/companies/:company_id/usage', action: 'usage.read', query: ['range'] },
  listRequests: {
    method: 'GET',
    path: '/companies/:company_id/requests',
    action: 'usage.read',
    query: [...requestFilter, 'outcome', 'before'],
  },
  /** Those with a status from 400 on, grouped. */
  listRequestErrors: {
    method: 'GET',
    path: '/companies/:company_id/request_errors',
    action: 'usage.read',
    query: requestFilter,
  },
  /** In the sandbox. A read of this route and location, without parameters. */
  sendAgain: { method: 'POST', path: '/companies/:company_id/requests/again', action: 'first_call.make' },
} as const satisfies Record<string, Route>
