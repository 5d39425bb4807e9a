import { useSuspenseQuery } from '@tanstack/react-query'
import { urlOf } from '../../api/call.ts'
import { read } from '../../api/query.ts'
import { useUrlState } from '../../ui/state/url-state.ts'
import { History } from '../history/History.tsx'
import { type HistorySearch, historyFileQuery, historyQuery } from '../history/history-search.ts'
import { useCompanyParams } from './company.ts'

/** The changes that people made in the company. */
export function CompanyHistoryPage() {
  const [search] = useUrlState<HistorySearch>()
  const params = useCompanyParams()
  const events = useSuspenseQuery(read('listCompanyEvents', { params, query: historyQuery(search) })).data
  return (
    <History
      side="company"
      events={events}
      description="Who changed what in this company, and from which address. Entries are never deleted."
      file={urlOf('exportCompanyEvents', { params, query: historyFileQuery(search) })}
    />
  )
}
