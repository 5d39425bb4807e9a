import type { AgreementVersion } from '@bridgework/contract/portal'
import { Accordion, Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconCertificate, IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { MarkdownText } from '../../ui/MarkdownText.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'
import { PublishAgreement, useAgreementDraft } from './PublishAgreement.tsx'

/** The developer agreement's versions, and how many companies accepted each; a new one is published here. */
export function AgreementsPage() {
  const { data } = useSuspenseQuery(read('listAgreements'))
  const mayPublish = useMay('operator')('operator.agreement_publish')
  // What the end of a session cut off goes on.
  const [draft] = useAgreementDraft()
  const [isWriting, setWriting] = useState(draft !== null)
  const newest = data.data.reduce<AgreementVersion | null>(
    (found, version) => (found === null || version.version > found.version ? version : found),
    null,
  )
  return (
    <>
      <PageHeader
        title="Developer agreement"
        description="A company can generate keys after its owner accepts the agreement. A new version must be accepted again; keys keep working during its grace period."
        actions={
          mayPublish &&
          !isWriting && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setWriting(true)}>
              Write new version
            </Button>
          )
        }
      />
      <Stack>
        {!mayPublish && <WhoMay action="operator.agreement_publish" what="publish a version" />}
        {isWriting && <PublishAgreement newest={newest} companies={data.companies} onDone={() => setWriting(false)} />}
        {data.data.length === 0 ? (
          <Card withBorder>
            <EmptyState icon={IconCertificate} title="No version yet">
              No company can generate keys before you publish a version.
            </EmptyState>
          </Card>
        ) : (
          <Accordion variant="separated" order={2}>
            {data.data.map((version) => (
              <Accordion.Item key={version.version} value={String(version.version)}>
                <Accordion.Control>
                  <Group justify="space-between" gap="xs" pr="sm">
                    <Text component="span" fw={500}>
                      Version {version.version}
                    </Text>
                    <Text component="span" size="sm" c="dimmed">
                      accepted by {version.accepted_by_companies} of {data.companies} companies
                    </Text>
                  </Group>
                </Accordion.Control>
                <Accordion.Panel>
                  <Text size="sm" c="dimmed" mb="md">
                    Published <When at={version.published_at} />, required for keys from{' '}
                    <When at={version.enforced_at} /> on.
                  </Text>
                  <MarkdownText text={version.body} />
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        )}
      </Stack>
    </>
  )
}
