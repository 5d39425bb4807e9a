import type { OrganizationPage } from '@bridgework/contract/portal'
import { Progress as Bar, Group, Stack, Text } from '@mantine/core'
import { ReadingNow } from '../../../ui/AgentProblems.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageLink } from '../../../ui/links.tsx'
import { Section } from '../../../ui/Section.tsx'

/** How complete and how current the copy of the practice's data is; each first sync with a bar. */
export function Progress({ organization }: { organization: OrganizationPage }) {
  const { id: organization_id, agents, locations, locations_by_state: states, first_syncs: syncs } = organization
  const params = { organization_id }
  return (
    <Section title="Copy of your data">
      <Group gap="lg">
        <Text size="sm">
          <PageLink inherit underline="always" to="/organization/$organization_id/locations" params={params}>
            {counted(locations, 'location')}
          </PageLink>
          {locations > 0 && `: ${formatCount(states.current)} current`}
        </Text>
        <Text size="sm">
          <PageLink inherit underline="always" to="/organization/$organization_id/agents" params={params}>
            {counted(agents.living, 'agent')}
          </PageLink>
          {agents.living > 0 && `: ${formatCount(agents.connected)} connected`}
        </Text>
      </Group>
      {syncs.length > 0 && (
        <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
          {syncs.map(({ location_id, name, datasets, complete, reading }) => (
            <Stack component="li" gap={4} key={location_id}>
              <Text size="sm">
                First sync of{' '}
                <PageLink
                  inherit
                  underline="always"
                  to="/organization/$organization_id/locations/$location_id"
                  params={{ ...params, location_id }}
                >
                  <bdi>{name}</bdi>
                </PageLink>
                : {complete} of {counted(datasets, 'dataset')} complete
              </Text>
              <Bar
                value={datasets === 0 ? 0 : (complete / datasets) * 100}
                maw={420}
                aria-label={`Datasets of ${name} that are complete`}
              />
              {reading && <ReadingNow reading={reading} />}
            </Stack>
          ))}
        </Stack>
      )}
    </Section>
  )
}

function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`
}
