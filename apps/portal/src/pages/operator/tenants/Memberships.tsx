import type { OperatorPerson } from '@bridgework/contract/portal'
import { Stack, Text } from '@mantine/core'
import { PageLink } from '../../../ui/links.tsx'

/** What a person acts for, each with its page, and as what. */
export function Memberships({ of }: { of: OperatorPerson['memberships'] }) {
  if (of.length === 0) return 'nothing'
  return (
    <Stack gap={0}>
      {of.map(({ side, id, name, role }) => (
        <Text key={id} component="span" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {side === 'company' && (
            <PageLink size="sm" to="/operator/companies/$company_id" params={{ company_id: id }}>
              {name}
            </PageLink>
          )}
          {side === 'organization' && (
            <PageLink size="sm" to="/operator/organizations/$organization_id" params={{ organization_id: id }}>
              {name}
            </PageLink>
          )}
          {side === 'operator' && name}, {role}
        </Text>
      ))}
    </Stack>
  )
}
