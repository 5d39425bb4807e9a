import type { AgentProblem, ReadProgress } from '@bridgework/contract/portal'
import { Alert, Progress, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { known, t } from '../language/t.ts'
import { aboutDuration } from './format/duration.ts'
import { formatCount } from './format/locale.ts'
import { When } from './When.tsx'

/** What an agent says is wrong, each with since when and what to do. */
export function AgentProblems({ problems }: { problems: readonly AgentProblem[] }) {
  return problems.map(({ what, todo, since, datasets, locations }) => (
    <Alert key={`${what}${since}`} color="orange" icon={<IconAlertTriangle aria-hidden />}>
      <Stack gap={4}>
        <Text size="sm" fw={600} c="bright">
          {what}
        </Text>
        <Text size="sm" c="bright">
          {todo}
        </Text>
        <Text size="sm" c="dimmed">
          {t(
            'Began {when}{hasDatasets, select, yes {, of {datasets}} other {}}{hasLocations, select, yes {, at {locations}} other {}}.',
            {
              when: <When at={since} />,
              hasDatasets: datasets.length > 0 ? 'yes' : 'no',
              datasets: datasets.map(known).join(', '),
              hasLocations: locations.length > 0 ? 'yes' : 'no',
              locations: locations.join(', '),
            },
          )}
        </Text>
      </Stack>
    </Alert>
  ))
}

/** How far the agent has come with what it reads at the moment. */
export function ReadingNow({ reading, size = 'sm' }: { reading: ReadProgress; size?: 'xs' | 'sm' }) {
  const { title, rows_read, rows_total, seconds_left } = reading
  const left = rows_total === null ? 0 : Math.max(0, rows_total - rows_read)
  return (
    <Stack gap={4}>
      <Text size={size}>
        {t(
          'Reading {title}: {rows}{hasTotal, select, yes { of {total}} other {}} rows read{hasLeft, select, yes {, {left} left} other {}}.',
          {
            title: known(title),
            rows: formatCount(rows_read),
            hasTotal: rows_total === null ? 'no' : 'yes',
            total: formatCount(rows_total ?? 0),
            hasLeft: rows_total === null && seconds_left === null ? 'no' : 'yes',
            left: seconds_left === null ? formatCount(left) : aboutDuration(seconds_left),
          },
        )}
      </Text>
      {rows_total !== null && (
        <Progress
          value={rows_total === 0 ? 100 : Math.min(100, (rows_read / rows_total) * 100)}
          size="sm"
          maw={420}
          aria-label={t('Rows of {title} that are read', { title: known(title) })}
        />
      )}
    </Stack>
  )
}
