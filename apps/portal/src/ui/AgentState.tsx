import type { ReadProgress } from '@bridgework/contract/portal'
import { Stack, Text } from '@mantine/core'
import { ReadingNow } from './AgentProblems.tsx'
import { type State, StateBadge } from './StateBadge.tsx'

/** An agent's state, what keeps it from reading, where given with what to do, and what it reads at the moment. */
export function AgentState({
  state,
  problems,
  reading,
}: {
  state: State
  problems: readonly { what: string; todo?: string }[]
  reading: ReadProgress | null
}) {
  return (
    <Stack gap={4} align="flex-start">
      <StateBadge state={state} />
      {problems.map(({ what, todo }) => (
        <Text key={what} size="xs">
          {what}
          {todo !== undefined && (
            <Text span inherit c="dimmed">
              {' '}
              {todo}
            </Text>
          )}
        </Text>
      ))}
      {reading && <ReadingNow reading={reading} size="xs" />}
    </Stack>
  )
}
