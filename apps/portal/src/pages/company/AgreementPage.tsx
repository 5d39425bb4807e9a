import type { AgreementPage as Agreement } from '@bridgework/contract/portal'
import { Button, Card, Checkbox, Group, Stack, Text, Typography } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import Markdown from 'react-markdown'
import { read, useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { useCompany, useCompanyParams } from './company.ts'

/** The developer API agreement: its text, the version that the company accepted, and the owner's acceptance. */
export function AgreementPage() {
  const params = useCompanyParams()
  const company = useCompany()
  const agreement = useSuspenseQuery(read('getAgreement', { params })).data
  const isAccepted = agreement.accepted_version === agreement.current_version
  return (
    <>
      <PageHeader
        title="Developer API agreement"
        description={
          <>
            Version {agreement.current_version}, published <When at={agreement.published_at} />
          </>
        }
        actions={<StateBadge state={agreement.is_in_force ? 'in_force' : 'not_accepted'} />}
      />
      <Stack>
        <Standing agreement={agreement} />
        <Card withBorder padding="lg" component="article" maw={820}>
          <Typography p={0}>
            {/* The page has its own first heading. */}
            <Markdown components={{ h1: 'h2', h2: 'h3', h3: 'h4' }}>{agreement.body}</Markdown>
          </Typography>
        </Card>
        {!isAccepted && (
          <Acceptance
            version={agreement.current_version}
            earlier={agreement.accepted_version}
            requiredAt={agreement.required_at}
            company={company}
          />
        )}
      </Stack>
    </>
  )
}

/** Which version is accepted, by whom and when, which one is required, and which one comes. */
function Standing({ agreement }: { agreement: Agreement }) {
  const { accepted_version: accepted, current_version: current, required_now: required } = agreement
  return (
    <Section title="Versions">
      <Stack gap="xs">
        <Text size="sm">
          <b>Accepted: </b>
          {accepted === null ? (
            'no version yet'
          ) : (
            <>
              version {accepted}, <When at={agreement.accepted_at} />
              {agreement.accepted_by && ` by ${agreement.accepted_by}`}
            </>
          )}
        </Text>
        <Text size="sm">
          <b>In force for your company: </b>
          {agreement.is_in_force
            ? `version ${accepted}`
            : 'none. Keys do not work until the owner accepts the agreement'}
        </Text>
        {required && (
          <Text size="sm">
            <b>Required now: </b>
            version {required.version} or newer. It became binding <When at={required.since} />.
          </Text>
        )}
        {agreement.required_at && current !== required?.version && (
          <Text size="sm">
            <b>Coming: </b>
            version {current}, required from <When at={agreement.required_at} /> on
          </Text>
        )}
      </Stack>
    </Section>
  )
}

function Acceptance({
  version,
  earlier,
  requiredAt,
  company,
}: {
  version: number
  earlier: number | null
  requiredAt: string | null
  company: { id: string; name: string; owner: { name: string; email: string } }
}) {
  const may = useMay(company.id)
  const accept = useAct('acceptAgreement')
  const [isRead, setIsRead] = useState(false)
  return (
    <Section
      title={`Accept version ${version}`}
      description={
        earlier === null ? (
          'A company needs it to get a key pair and access to data.'
        ) : (
          <>
            Version {earlier} is accepted. Version {version} is required for keys from <When at={requiredAt} /> on.
          </>
        )
      }
    >
      {may('agreement.accept') ? (
        <>
          <Checkbox
            label={`I have read the agreement and accept it for ${company.name}`}
            checked={isRead}
            onChange={(event) => setIsRead(event.currentTarget.checked)}
          />
          <ErrorNote error={accept.error} />
          <Group>
            <Button
              disabled={!isRead}
              loading={accept.isPending}
              onClick={() =>
                accept.mutate(
                  { params: { company_id: company.id }, body: { version } },
                  { onSuccess: () => notifications.show({ message: `Version ${version} is accepted.` }) },
                )
              }
            >
              Accept agreement
            </Button>
          </Group>
        </>
      ) : (
        <Text size="sm">
          Only the owner can accept it: <b>{company.owner.name}</b>, {company.owner.email}.
        </Text>
      )}
    </Section>
  )
}
