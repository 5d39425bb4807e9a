import type { AttributionEntry } from '@bridgework/contract/portal'
import { Accordion, Card, Group, Stack, Text } from '@mantine/core'
import { IconCode } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { listQuery } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { AttributionScript } from './AttributionScript.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/attribution')

/** The script for each location's website: the line to paste, and where it ran. */
export function AttributionPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: list } = useSuspenseQuery(
    read('listAttribution', { params, query: listQuery(search) }, { everyMs: 4_000 }),
  )
  const only = list.total === 1 ? list.data[0]?.location_id : undefined
  return (
    <>
      <PageHeader
        title="Attribution"
        description="A small script for each location’s website. It sets no cookie, does not identify visitors, and reports only that it runs on your website."
      />
      <Stack>
        <SearchField label="Search locations" />
        {list.total === 0 ? (
          <Card withBorder>
            <EmptyState
              icon={IconCode}
              title={search.search ? `No location matches “${search.search}”` : 'No locations yet'}
            >
              Each location gets its own script when an agent has read the location for the first time.
            </EmptyState>
          </Card>
        ) : (
          <Accordion
            variant="separated"
            order={2}
            value={search.open ?? only ?? null}
            onChange={(open) =>
              navigate({
                search: (old) => ({ ...old, open: open ?? undefined }),
                replace: true,
                resetScroll: false,
              })
            }
          >
            {list.data.map((entry) => (
              <Accordion.Item key={entry.location_id} value={entry.location_id}>
                <Accordion.Control>
                  <Summary entry={entry} />
                </Accordion.Control>
                <Accordion.Panel>
                  <AttributionScript entry={entry} organizationId={params.organization_id} />
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        )}
        <Pages list={list} />
      </Stack>
    </>
  )
}

function Summary({ entry }: { entry: AttributionEntry }) {
  return (
    <Group justify="space-between" gap="xs" pr="sm">
      <Text fw={500} component="span">
        {entry.location_name}
      </Text>
      <Group gap="sm" component="span">
        {entry.last_seen_at && (
          <Text size="sm" c="dimmed" component="span">
            seen <When at={entry.last_seen_at} />
          </Text>
        )}
        <StateBadge state={entry.is_installed ? 'installed' : 'not_installed'} />
      </Group>
    </Group>
  )
}
