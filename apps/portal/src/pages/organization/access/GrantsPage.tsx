import { Card, Stack } from '@mantine/core'
import { IconClipboardList } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { ButtonLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Pages } from '../../../ui/Pages.tsx'
import { listQuery } from '../../../ui/state/url-state.ts'
import { GrantTable } from './GrantTable.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/grants')

/** Every grant of the practice, to any vendor, and when it ended. */
export function GrantsPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(read('listGrants', { params, query: listQuery(search) }))
  return (
    <>
      <PageHeader
        title="Grants"
        description="What your practice has granted to whom, from when to when. Nothing is ever deleted here."
      />
      <Stack>
        <SearchField label="Search grants" placeholder="Vendor, location, dataset or person" />
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState
              icon={IconClipboardList}
              title={search.search ? `No grant matches “${search.search}”` : 'No grant yet'}
              action={
                !search.search && (
                  <ButtonLink to="/organization/$organization_id/vendors" params={params}>
                    Grant access
                  </ButtonLink>
                )
              }
            >
              Each dataset that you grant to a vendor is listed here.
            </EmptyState>
          ) : (
            <GrantTable grants={list.data} withVendor />
          )}
        </Card>
        <Pages list={list} />
      </Stack>
    </>
  )
}
