import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { urlOf } from '../../api/call.ts'
import { read } from '../../api/query.ts'
import { listQuery } from '../../ui/url-state.ts'
import { History } from '../history/History.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/history')

export function OrganizationHistoryPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const { data: events } = useSuspenseQuery(read('listOrganizationEvents', { params, query: listQuery(search) }))
  return (
    <History
      events={events}
      description="Who changed what in your practice, and when."
      file={urlOf('exportOrganizationEvents', { params, query: { search: search.search } })}
    />
  )
}
