import type { AgentProblem, ReadProgress } from '@bridgework/contract/portal'
import { Alert, Progress, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
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
          Began <When at={since} />
          {datasets.length > 0 && `, of ${datasets.join(', ')}`}
          {locations.length > 0 && `, at ${locations.join(', ')}`}.
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
        Reading {title}: {formatCount(rows_read)}
        {rows_total !== null && ` of ${formatCount(rows_total)}`} rows read
        {seconds_left !== null
          ? `, ${aboutDuration(seconds_left)} left`
          : rows_total !== null && `, ${formatCount(left)} left`}
        .
      </Text>
      {rows_total !== null && (
        <Progress
          value={rows_total === 0 ? 100 : Math.min(100, (rows_read / rows_total) * 100)}
          size="sm"
          maw={420}
          aria-label={`Rows of ${title} that are read`}
        />
      )}
    </Stack>
  )
}
