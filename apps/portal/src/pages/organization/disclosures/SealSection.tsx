import { Anchor, Button, Code, Stack, Switch, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { urlOf } from '../../../api/call.ts'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'

/** How a practice checks with a program of its own that no disclosure was changed. */
export function SealSection({ organizationId }: { organizationId: string }) {
  const params = { organization_id: organizationId }
  const { data } = useSuspenseQuery(read('getSealKey', { params }))
  const mayMail = useMay(organizationId)('seal.mail')
  const mail = useAct('setSealMail')
  return (
    <Section
      title="Check that nothing was changed"
      description="Disclosures are sealed with a signature after each day (UTC). The export has every disclosure of your practice and the seals. A small program checks them, without Bridgework. Keep your exports: they prove a later change."
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {data.sealed_at === null ? (
            'There is no seal yet: the first one is made after the day has ended.'
          ) : (
            <>
              {formatCount(data.entries ?? 0)} disclosures are sealed. Last seal: <When at={data.sealed_at} />
            </>
          )}
        </Text>
        <Text size="sm">
          Public key, to be written down: <Code>{data.public_key}</Code>
        </Text>
        <Button
          component="a"
          href={urlOf('exportSealedDisclosures', { params })}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Download with seals
        </Button>
        <Anchor href="/verify-disclosures.mjs" download size="sm">
          Download the program
        </Anchor>
        <Switch
          label={`Mail each new seal to the owner${data.mailed_to === null ? '' : `, ${data.mailed_to}`}`}
          description="A kept mail shows a later change of what was sealed, also one by the operator."
          checked={data.is_mailed}
          disabled={!mayMail || mail.isPending}
          onChange={(event) => mail.mutate({ params, body: { is_mailed: event.currentTarget.checked } })}
        />
        <ErrorNote error={mail.error} />
      </Stack>
    </Section>
  )
}
