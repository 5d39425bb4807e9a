import type { Incident } from '@bridgework/contract/portal'
import { Button, Card, Stack } from '@mantine/core'
import { IconCircleCheck, IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { IncidentEntry } from '../../ui/IncidentEntry.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { PostIncident } from './PostIncident.tsx'

/** What the operator tells everyone about incidents, on the page /status. */
export function IncidentsPage() {
  const { data } = useSuspenseQuery(read('listIncidents')).data
  const [asked, setAsked] = useState<{ incident: Incident | null } | null>(null)
  return (
    <>
      <PageHeader
        title="Incidents"
        description="What you write here is public at once, on the status page."
        actions={
          <>
            <ButtonLink to="/status" variant="default">
              Status page
            </ButtonLink>
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAsked({ incident: null })}>
              New incident
            </Button>
          </>
        }
      />
      <Stack>
        {data.length === 0 && (
          <Card withBorder>
            <EmptyState icon={IconCircleCheck} title="No incidents yet" />
          </Card>
        )}
        {data.map((incident) => (
          <IncidentEntry
            key={incident.id}
            incident={incident}
            actions={
              <Button
                size="xs"
                variant="default"
                onClick={() => setAsked({ incident })}
                aria-label={`Update ${incident.title}`}
              >
                Update…
              </Button>
            }
          />
        ))}
      </Stack>
      {asked && <PostIncident incident={asked.incident} onDone={() => setAsked(null)} />}
    </>
  )
}
