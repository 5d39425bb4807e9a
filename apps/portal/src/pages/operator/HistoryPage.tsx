import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { urlOf } from '../../api/call.ts'
import { read } from '../../api/query.ts'
import { History } from '../history/History.tsx'
import { historyFileQuery, historyQuery } from '../history/history-search.ts'

const route = getRouteApi('/signed-in/operator/history')

export function HistoryPage() {
  const search = route.useSearch()
  const { data: events } = useSuspenseQuery(read('listOperatorEvents', { query: historyQuery(search) }))
  return (
    <History
      side="operator"
      events={events}
      description="Who changed what as an operator, and when."
      file={urlOf('exportOperatorEvents', { query: historyFileQuery(search) })}
    />
  )
}
