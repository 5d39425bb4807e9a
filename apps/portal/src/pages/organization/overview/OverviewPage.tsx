import { Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Checklist } from './Checklist.tsx'
import { Progress } from './Progress.tsx'
import { Readers } from './Readers.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/')

/** Who reads the practice's data, how complete the copy of it is, and what a person should do now. */
export function OverviewPage() {
  const params = route.useParams()
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }, { everyMs: 15_000 }))
  const { data: readers } = useSuspenseQuery(read('listReaders', { params }, { everyMs: 60_000 }))
  return (
    <>
      <PageHeader
        title={organization.name}
        documentTitle="Overview"
        description="Who reads your data, how current it is, and what to do."
      />
      <Stack>
        <Readers readers={readers} organizationId={params.organization_id} />
        <Progress organization={organization} />
        <Checklist organization={organization} />
      </Stack>
    </>
  )
}
