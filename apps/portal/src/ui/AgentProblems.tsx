import type { AgentProblem, ReadProgress } from '@bridgework/contract/portal'
import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
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
export function ReadingNow({ reading }: { reading: ReadProgress }) {
  const { title, rows_read, rows_total } = reading
  const of = rows_total === null ? '' : ` of ${formatCount(rows_total)}`
  return (
    <Text size="sm">
      Reading {title}: {formatCount(rows_read)}
      {of} rows read
      {rows_total !== null && `, ${formatCount(rows_total - rows_read)} left`}.
    </Text>
  )
}
