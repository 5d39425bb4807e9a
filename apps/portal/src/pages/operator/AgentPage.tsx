import { Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { AgentProblems, ReadingNow } from '../../ui/AgentProblems.tsx'
import { AgentVersion } from '../../ui/AgentVersion.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { TimePlot } from '../../ui/TimePlot.tsx'
import { When } from '../../ui/When.tsx'
import { ActivityPlots } from './ActivityPlots.tsx'
import { LocationTable } from './LocationTable.tsx'
import { RangeControl } from './RangeControl.tsx'

const route = getRouteApi('/signed-in/operator/agents/$agent_id')

/** One agent: its state, its requests, and what happens at the locations that it writes. */
export function AgentPage() {
  const params = route.useParams()
  const { range } = route.useSearch()
  const { data } = useSuspenseQuery(read('getOperatorAgent', { params, query: { range } }, { everyMs: 60_000 }))
  const { buckets } = data.requests
  const total = (of: 'requests' | 'errors') => formatCount(buckets.reduce((sum, bucket) => sum + bucket[of], 0))
  return (
    <>
      <PageHeader
        title={data.name}
        description="An office agent. This page updates automatically."
        actions={<RangeControl ranges={['24h', '7d', '30d']} />}
      />
      <Stack>
        <Section title="Agent">
          <Facts
            facts={{
              State: <StateBadge state={data.state} />,
              Organization: (
                <PageLink
                  size="sm"
                  to="/operator/organizations/$organization_id"
                  params={{ organization_id: data.organization_id }}
                >
                  {data.organization_name}
                </PageLink>
              ),
              'Last contact': <When at={data.last_contact_at} />,
              Version: <AgentVersion version={data.version} />,
              Enrolled: <When at={data.enrolled_at} />,
              Id: data.id,
            }}
          />
        </Section>
        <AgentProblems problems={data.problems} />
        {data.reading && <ReadingNow reading={data.reading} />}
        <Section title="Requests" description="Requests of this agent, and those answered with 400 or more.">
          <TimePlot
            instants={buckets.map(({ at }) => at)}
            unit="count"
            series={[
              { name: 'requests', label: 'Requests', color: 'indigo.6', values: buckets.map((each) => each.requests) },
              { name: 'errors', label: 'Errors', color: 'red.6', values: buckets.map((each) => each.errors) },
            ]}
            text={`${total('requests')} requests, ${total('errors')} of them errors`}
          />
        </Section>
        <ActivityPlots activity={data.activity} />
        <Section title="Locations that it writes">
          <LocationTable locations={data.locations} />
        </Section>
      </Stack>
    </>
  )
}
