import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { urlOf } from '../../api/call.ts'
import { read } from '../../api/query.ts'
import { History } from '../history/History.tsx'
import { historyFileQuery, historyQuery } from '../history/history-search.ts'

const route = getRouteApi('/signed-in/organization/$organization_id/history')

export function OrganizationHistoryPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const { data: events } = useSuspenseQuery(read('listOrganizationEvents', { params, query: historyQuery(search) }))
  return (
    <History
      side="organization"
      events={events}
      description="Who changed what in your practice, and when."
      file={urlOf('exportOrganizationEvents', { params, query: historyFileQuery(search) })}
    />
  )
}
