import type { AgreementVersion } from '@bridgework/contract/portal'
import { Box, Button, Group, NumberInput, Stack, Tabs, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { MarkdownText } from '../../ui/MarkdownText.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraft } from '../../ui/state/draft.ts'

type AgreementDraft = { version: number; body: string; days: number }

/** What is being written; null while nothing is. */
export function useAgreementDraft() {
  return useDraft<AgreementDraft>('agreement')
}

const reasonId = 'why-not-published'

/** Why a version cannot be published as it stands, or null. */
function whyNot(body: string, version: number, newest: AgreementVersion | null): string | null {
  if (body.trim() === '') return 'The text is empty. Write the agreement under Text.'
  if (body === newest?.body) return `The text is the same as that of version ${newest.version}. Change it to publish.`
  if (version <= (newest?.version ?? 0))
    return `Version ${version} was published meanwhile. Copy your text, cancel, and begin with the newest version.`
  return null
}

/** The next version of the agreement: a text with a preview, published once its number was typed. Starts with the newest text. */
export function PublishAgreement({
  newest,
  companies,
  onDone,
}: {
  newest: AgreementVersion | null
  companies: number
  onDone: () => void
}) {
  // The text belongs to the version that it started with. When another one is published meanwhile, the server refuses this one.
  const [started] = useState<AgreementDraft>({
    version: (newest?.version ?? 0) + 1,
    body: newest?.body ?? '',
    days: 30,
  })
  const [draft, setDraft] = useAgreementDraft()
  const { version, body, days } = draft ?? started
  const change = (part: Partial<AgreementDraft>) => setDraft({ version, body, days, ...part })
  const [isAsking, { open, close }] = useDisclosure()
  const publish = useAct('publishAgreement')
  const refusal = whyNot(body, version, newest)
  const leave = () => {
    setDraft(null)
    onDone()
  }
  return (
    <Section
      title={`Version ${version}`}
      description="Write Markdown. Check the preview before you publish: a published version cannot be changed."
    >
      <Tabs defaultValue="text">
        <Tabs.List>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="preview">Preview</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="text" pt="md">
          <Textarea
            label="Text of the agreement"
            value={body}
            onChange={(event) => change({ body: event.currentTarget.value })}
            autosize
            minRows={12}
            maxRows={28}
            maxLength={200_000}
          />
        </Tabs.Panel>
        <Tabs.Panel value="preview" pt="md">
          {body.trim() === '' ? (
            <Text size="sm" c="dimmed">
              No text yet. Write it under Text.
            </Text>
          ) : (
            <Box component="article" maw={820}>
              <MarkdownText text={body} />
            </Box>
          )}
        </Tabs.Panel>
      </Tabs>
      <NumberInput
        label="Grace period in days"
        description="Existing keys keep working for this many days. After that, a company must accept this version first. 0: keys stop at once."
        value={days}
        onChange={(value) => change({ days: Number(value) })}
        min={0}
        max={365}
        allowDecimal={false}
        maw={320}
      />
      <Group>
        <Button onClick={open} disabled={refusal !== null} aria-describedby={refusal === null ? undefined : reasonId}>
          Publish…
        </Button>
        <Button variant="default" onClick={leave}>
          Cancel
        </Button>
        <Text size="sm" c="dimmed" id={reasonId} role="status">
          {refusal}
        </Text>
      </Group>
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={`Publish version ${version}?`}
        typed={String(version)}
        reason="optional"
        confirm="Publish"
        color="indigo"
        onConfirm={async (reason) => {
          await publish.mutateAsync({
            body: { version, body, grace_period_days: days, ...(reason && { reason }) },
          })
          notifications.show({ message: `Version ${version} is published.` })
          leave()
        }}
      >
        <Stack gap="xs">
          <span>
            The owners of {companies} {companies === 1 ? 'company' : 'companies'} are asked to accept it.{' '}
            {days === 0
              ? 'Their keys do not work until they accept.'
              : `If they do not, their keys stop working after ${days} ${days === 1 ? 'day' : 'days'}.`}
          </span>
        </Stack>
      </ConfirmDialog>
    </Section>
  )
}
