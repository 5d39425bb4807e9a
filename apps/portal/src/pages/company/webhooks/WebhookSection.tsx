import type { Webhook } from '@bridgework/contract/portal'
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { useCompanyParams } from '../company.ts'
import { TypesField } from './TypesField.tsx'
import { WebhookAttempts } from './WebhookAttempts.tsx'
import type { NewSecret } from './WebhookSecret.tsx'

/** One webhook: its state, what can be done with it, and its attempts. */
export function WebhookSection({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: NewSecret) => void }) {
  const company = useCompanyParams()
  const params = { ...company, webhook_id: webhook.id }
  const may = useMay(company.company_id)
  const [test, pause, resume] = [useAct('testWebhook'), useAct('pauseWebhook'), useAct('resumeWebhook')]
  const [remove, rotate] = [useAct('removeWebhook'), useAct('rotateWebhookSecret')]
  const [asked, setAsked] = useState<'remove' | 'rotate' | 'types' | null>(null)
  const [areAttemptsShown, setAreAttemptsShown] = useState(false)
  const { url, state } = webhook
  const close = () => setAsked(null)
  return (
    <Section
      title={url}
      description={
        <>
          Types: {webhook.types.join(', ')} · last attempt: <When at={webhook.attempted_at} /> · waiting:{' '}
          {formatCount(webhook.pending)}
        </>
      }
      actions={<StateBadge state={state} {...(webhook.stopped_because === 'person' && { label: 'Paused' })} />}
    >
      <Stack>
        <Trouble webhook={webhook} />
        {webhook.previous_secret_until && (
          <Text size="sm" c="dimmed">
            Signed with two secrets until <When at={webhook.previous_secret_until} />
          </Text>
        )}
        {may('webhook.change') && (
          <Group gap="sm">
            <Button
              variant="default"
              loading={test.isPending}
              onClick={() => test.mutate({ params }, { onSuccess: () => setAreAttemptsShown(true) })}
            >
              Send test
            </Button>
            {state === 'stopped' ? (
              <Button variant="default" loading={resume.isPending} onClick={() => resume.mutate({ params })}>
                Resume
              </Button>
            ) : (
              <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate({ params })}>
                Pause
              </Button>
            )}
            <Button variant="default" onClick={() => setAsked('types')}>
              Types…
            </Button>
            {may('webhook.sign') && (
              <Button variant="default" onClick={() => setAsked('rotate')}>
                New secret…
              </Button>
            )}
            <Button variant="default" onClick={() => setAsked('remove')}>
              Remove…
            </Button>
            <Button variant="subtle" onClick={() => setAreAttemptsShown(!areAttemptsShown)}>
              {areAttemptsShown ? 'Hide attempts' : 'Show attempts'}
            </Button>
          </Group>
        )}
        <ErrorNote error={test.error ?? pause.error ?? resume.error} />
        {areAttemptsShown && <WebhookAttempts webhook={webhook} />}
      </Stack>
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={close}
        title="Remove the webhook?"
        confirm="Remove webhook"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        Nothing is sent to {url} any more. {formatCount(webhook.pending)} waiting messages and the list of attempts are
        deleted.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'rotate'}
        onClose={close}
        title="Make a new secret?"
        confirm="Make new secret"
        color="blue"
        onConfirm={async () => {
          const { secret } = await rotate.mutateAsync({ params })
          rotate.reset()
          onSecret({ url, secret, replaced: true })
        }}
      >
        For 24 hours messages are signed with the new secret and with the one before. Give your server the new one in
        that time.
      </ConfirmDialog>
      <ChangeTypes webhook={webhook} opened={asked === 'types'} onClose={close} />
    </Section>
  )
}

function Trouble({ webhook: { stopped_because, failing_since, pending } }: { webhook: Webhook }) {
  const waiting = pending === 0 ? '' : ` ${formatCount(pending)} messages wait.`
  const text = {
    gone: `Your server answered 410, so nothing more is sent.${waiting} Resume it when the address takes messages again.`,
    failing: `Five days passed without a success, so nothing more is sent.${waiting} Send a test, then resume it.`,
    person: `It is paused.${waiting}`,
  }
  if (stopped_because !== null)
    return (
      <Alert variant="light" color="orange">
        <Text size="sm" c="bright">
          {text[stopped_because]}
        </Text>
      </Alert>
    )
  if (failing_since === null) return null
  return (
    <Alert variant="light" color="orange">
      <Text size="sm" c="bright">
        Attempts fail. The first that did: <When at={failing_since} />.{waiting} Bridgework tries again every few
        minutes, and stops after five days.
      </Text>
    </Alert>
  )
}

function ChangeTypes({ webhook, opened, onClose }: { webhook: Webhook; opened: boolean; onClose: () => void }) {
  const company = useCompanyParams()
  const update = useAct('updateWebhook')
  const [types, setTypes] = useState(webhook.types)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Types of messages"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ exitDuration: 0 }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          update.mutate({ params: { ...company, webhook_id: webhook.id }, body: { types } }, { onSuccess: onClose })
        }}
      >
        <Stack>
          <TypesField value={types} onChange={setTypes} />
          <ErrorNote error={update.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={update.isPending} disabled={types.length === 0}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
