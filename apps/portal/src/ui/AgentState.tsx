import { Text } from '@mantine/core'
import { type State, StateBadge } from './StateBadge.tsx'

/** An agent's state, and what keeps it from reading. */
export function AgentState({ state, problems }: { state: State; problems: readonly { what: string }[] }) {
  return (
    <>
      <StateBadge state={state} />
      {problems.length > 0 && (
        <Text size="xs" c="dimmed">
          {problems.map(({ what }) => what).join(' ')}
        </Text>
      )}
    </>
  )
}
