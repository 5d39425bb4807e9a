import { Alert, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { t } from '../../language/t.ts'
import { IncidentEntry } from '../../ui/IncidentEntry.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'

/** What the operator says about incidents, for everyone. It updates itself. */
export function StatusPage() {
  const { incidents } = useSuspenseQuery(read('getStatus', {}, { everyMs: 60_000 })).data
  const open = incidents.filter(({ state }) => state !== 'resolved')
  const resolved = incidents.filter(({ state }) => state === 'resolved')
  return (
    <>
      <PageHeader title={t('Status')} />
      <Stack>
        {open.length === 0 ? (
          <Alert color="teal" icon={<IconCircleCheck aria-hidden />}>
            <Text size="sm" c="bright">
              {t('No incident is open.')}
            </Text>
          </Alert>
        ) : (
          <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
            <Text size="sm" c="bright">
              {t('{count, plural, one {One incident is open.} other {{count} incidents are open.}}', {
                count: open.length,
              })}
            </Text>
          </Alert>
        )}
        <Incidents title={t('Open')} incidents={open} />
        <Incidents title={t('Resolved in the last 30 days')} incidents={resolved} />
      </Stack>
    </>
  )
}

function Incidents({
  title,
  incidents,
}: {
  title: string
  incidents: Parameters<typeof IncidentEntry>[0]['incident'][]
}) {
  if (incidents.length === 0) return null
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Text component="h2" fw={600}>
        {title}
      </Text>
      {incidents.map((incident) => (
        <IncidentEntry key={incident.id} incident={incident} />
      ))}
    </Stack>
  )
}
