import type { GrantEntry } from '@bridgework/contract/portal'
import { Stack, Text } from '@mantine/core'
import { When } from '../../../ui/When.tsx'
import { changesOfGrants } from './grant-history.ts'

/** A vendor's grants as the changes that people made, one after the other. */
export function GrantHistory({ history }: { history: readonly GrantEntry[] }) {
  return (
    <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none', overflowWrap: 'anywhere' }}>
      {changesOfGrants(history).map(({ at, by, lines, purpose }) => (
        <li key={`${at} ${by}`}>
          <Text size="sm">
            <bdi>{lines.join(' ')}</bdi>
          </Text>
          <Text size="xs" c="dimmed" component="div">
            <bdi>{by}</bdi>, <When at={at} />
            {purpose !== null && (
              <>
                . Purpose: <bdi>{purpose}</bdi>
              </>
            )}
          </Text>
        </li>
      ))}
    </Stack>
  )
}
