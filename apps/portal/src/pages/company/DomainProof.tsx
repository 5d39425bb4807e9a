import type { DomainProof as Proof } from '@bridgework/contract/portal'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useAct } from '../../api/query.ts'
import { CopyField } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'

/** How the company proves that its website is its own, and what the last check found. */
export function DomainProof({
  companyId,
  domain,
  mayCheck,
}: {
  companyId: string
  domain: Proof | null
  mayCheck: boolean
}) {
  const check = useAct('checkCompanyDomain')
  if (domain === null) {
    return <Text size="sm">Enter your website in the profile first. Then you can prove that it is yours.</Text>
  }
  const failures = [domain.dns_failure, domain.file_failure].filter((each) => each !== null)
  return (
    <Stack>
      <Group gap="xs">
        <Text fw={500}>{domain.domain}</Text>
        <StateBadge state={domain.verified_at ? 'verified' : 'not_verified'} />
      </Group>
      <Text size="sm" role="status">
        {domain.verified_at ? (
          <>
            Proved by {domain.method === 'dns' ? 'a DNS record' : 'a file'} <When at={domain.verified_at} />. Keep it:
            Bridgework checks it every day, and the proof ends when three checks in a row do not find it.
          </>
        ) : (
          'Do one of the two, then choose “Check now”. Practices then see this domain as verified.'
        )}
        {domain.checked_at && (
          <>
            {' '}
            Last checked <When at={domain.checked_at} />.
          </>
        )}
      </Text>
      <CopyField label="1. A DNS record of type TXT with this name" value={domain.dns_name} />
      <CopyField label="2. Or a text file at this address" value={domain.file_url} />
      <CopyField label="The value of the record, or the text of the file" value={domain.token} />
      {failures.length > 0 && (
        <Alert color="orange">
          <Text size="sm" fw={600} c="bright">
            The last check found no proof
          </Text>
          <Stack gap={4} component="ul" m={0} pl="md">
            {failures.map((failure) => (
              <Text component="li" key={failure} size="sm" c="bright" style={{ overflowWrap: 'anywhere' }}>
                {failure}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      <ErrorNote error={check.error} />
      {mayCheck && (
        <Group>
          <Button
            variant="default"
            loading={check.isPending}
            onClick={() => check.mutate({ params: { company_id: companyId } })}
          >
            Check now
          </Button>
        </Group>
      )}
    </Stack>
  )
}
