import { read } from '../../api/query.ts'

/** All that the page of a tenant's members reads. */
export function membersQueries(tenant_id: string) {
  const params = { tenant_id }
  return [read('listMembers', { params }), read('getSignInRule', { params })]
}
