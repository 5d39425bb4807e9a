import type { Incident, IncidentState } from '@bridgework/contract/portal'
import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { t } from '../language/t.ts'
import { When } from './When.tsx'

export const incidentStateNames: Record<IncidentState, string> = {
  investigating: t('Investigating'),
  identified: t('Identified'),
  monitoring: t('Monitoring'),
  resolved: t('Resolved'),
}

/** An incident with all that was said of it, newest first. */
export function IncidentEntry({ incident, actions }: { incident: Incident; actions?: ReactNode }) {
  const { title, state, began_at, updates } = incident
  return (
    <Card withBorder component="article" padding="lg">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            <Text size="sm" c="dimmed">
              {t('Since {when}', { when: <When at={began_at} /> })}
            </Text>
          </div>
          <Group gap="sm">
            <Badge variant="default" tt="none">
              {incidentStateNames[state]}
            </Badge>
            {actions}
          </Group>
        </Group>
        {updates.map((update) => (
          <div key={`${update.posted_at} ${update.state}`}>
            <Text size="sm" c="dimmed">
              {incidentStateNames[update.state]} · <When at={update.posted_at} />
            </Text>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {update.text}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  )
}
