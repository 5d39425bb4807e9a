import type { PortalAnswers, ReaderEntry } from '@bridgework/contract/portal'
import { Box, Group, Stack, Text } from '@mantine/core'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import { ButtonLink, PageLink } from '../../../ui/links.tsx'
import { Section } from '../../../ui/Section.tsx'
import { Sparkline } from '../../../ui/Sparkline.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { VendorLogo } from '../../../ui/VendorLogo.tsx'
import { When } from '../../../ui/When.tsx'
import { datasetTitle } from '../access/dataset-title.ts'
import classes from './Readers.module.css'

/** Which vendors read the practice's data: what, when last, and how much. */
export function Readers({
  readers: { data, days },
  organizationId,
}: {
  readers: PortalAnswers['listReaders']
  organizationId: string
}) {
  const params = { organization_id: organizationId }
  return (
    <Section
      title="Who reads your data"
      description="Vendors that have access now, or read something within the last two weeks."
      actions={
        <>
          <ButtonLink variant="default" size="xs" to="/organization/$organization_id/access-review" params={params}>
            Review access
          </ButtonLink>
          <ButtonLink
            variant="default"
            size="xs"
            to="/organization/$organization_id/vendors"
            params={params}
            search={{ show: 'verified' }}
          >
            Give a vendor access
          </ButtonLink>
        </>
      }
    >
      {data.length === 0 ? (
        <Text size="sm">No vendor has access to your data.</Text>
      ) : (
        <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
          {data.map((reader) => (
            <Reader key={reader.company_id} reader={reader} days={days.length} organizationId={organizationId} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function Reader({ reader, days, organizationId }: { reader: ReaderEntry; days: number; organizationId: string }) {
  const { company_id, name, logo, has_access, is_verified, records, last_read_at } = reader
  const params = { organization_id: organizationId, company_id }
  const total = records?.reduce((sum, each) => sum + each, 0) ?? 0
  return (
    <li className={classes.reader}>
      <Group gap="sm" wrap="nowrap" miw={0}>
        <VendorLogo name={name} logo={logo} />
        <Box miw={0}>
          <Group gap="xs">
            <PageLink
              fw={500}
              size="sm"
              to="/organization/$organization_id/vendors/$company_id"
              params={params}
              className={classes.name}
            >
              <bdi>{name}</bdi>
            </PageLink>
            {!is_verified && <StateBadge state="not_verified" />}
            {!has_access && <StateBadge state="closed" label="No access" />}
          </Group>
          <Text size="sm" c="dimmed">
            {whatItMayRead(reader)}
          </Text>
        </Box>
      </Group>
      <Text size="sm" component="div">
        Last read: <When at={last_read_at} />
        {records !== null && (
          <>
            <br />
            {(records.at(-1) ?? 0) === 0 ? 'Nothing today' : `${formatCount(records.at(-1) ?? 0)} records today`}
          </>
        )}
      </Text>
      {records !== null && (
        <Sparkline values={records} label={`${formatCount(total)} records read in the last ${days} days`} />
      )}
    </li>
  )
}

/** "Patients and Appointments at 3 locations". */
function whatItMayRead({ datasets, locations, has_access }: ReaderEntry): string {
  if (!has_access || datasets.length === 0) return 'May read nothing now'
  const names = new Intl.ListFormat(locale, { type: 'conjunction' }).format(datasets.map(datasetTitle))
  return `${names} at ${locations === 1 ? '1 location' : `${formatCount(locations)} locations`}`
}
