import type { CompanyPage } from '@bridgework/contract/portal'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'

const route = getRouteApi('/signed-in/company/$company_id')

/** The company of the page's address, as the parameters of a route. */
export function useCompanyParams(): { company_id: string } {
  const { company_id } = route.useParams()
  return { company_id }
}

export function useCompany(): CompanyPage {
  return useSuspenseQuery(read('getCompany', { params: useCompanyParams() })).data
}
