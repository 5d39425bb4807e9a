import type { Webhook, WebhookAttempt } from '@bridgework/contract/portal'
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { CopyField } from '../../../ui/Copy.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { valueInWords } from '../../../ui/format/plot-scale.ts'
import { When } from '../../../ui/When.tsx'
import { useCompanyParams } from '../company.ts'

/** The attempts of the last seven days, the newest first, some at a time. */
export function WebhookAttempts({ webhook }: { webhook: Webhook }) {
  const company = useCompanyParams()
  const params = { ...company, webhook_id: webhook.id }
  const [before, setBefore] = useState<string | undefined>()
  const listed = useQuery(read('listWebhookAttempts', { params, query: { before } }, { everyMs: 15_000 }))
  const resend = useAct('resendWebhook')
  const mayResend = useMay(company.company_id)('webhook.change')
  const [shown, setShown] = useState<WebhookAttempt | null>(null)
  const attempts = listed.data?.data ?? []
  const next = listed.data?.next_before
  return (
    <Stack>
      <ErrorNote error={listed.error ?? resend.error} />
      {listed.data && attempts.length === 0 && <Text size="sm">No attempt within the last seven days.</Text>}
      {attempts.length > 0 && (
        <DataTable
          caption={`Attempts at ${webhook.url}`}
          rows={attempts}
          rowKey={({ id }) => id}
          columns={[
            { header: 'At', cell: ({ attempted_at }) => <When at={attempted_at} /> },
            { header: 'Message', cell: messageOf },
            { header: 'Answer', cell: outcomeOf },
            { header: 'Duration', align: 'right', cell: ({ duration_ms }) => valueInWords(duration_ms, 'ms') },
            {
              header: 'Actions',
              isHidden: true,
              cell: (attempt) => (
                <Group gap="xs" justify="flex-end" wrap="nowrap">
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => setShown(attempt)}
                    aria-label={`Answer to ${messageOf(attempt)}`}
                  >
                    Answer
                  </Button>
                  {mayResend && attempt.sequence !== null && (
                    <Button
                      size="xs"
                      variant="default"
                      loading={resend.isPending}
                      onClick={() => resend.mutate({ params: { ...params, attempt_id: attempt.id } })}
                      aria-label={`Send again: ${messageOf(attempt)}`}
                    >
                      Send again
                    </Button>
                  )}
                </Group>
              ),
            },
          ]}
        />
      )}
      <Group>
        {before && (
          <Button size="xs" variant="default" onClick={() => setBefore(undefined)}>
            Newest attempts
          </Button>
        )}
        {next && (
          <Button size="xs" variant="default" onClick={() => setBefore(next)}>
            Older attempts
          </Button>
        )}
      </Group>
      <AnswerDialog attempt={shown} onClose={() => setShown(null)} />
    </Stack>
  )
}

function messageOf({ type, row_id, sequence }: WebhookAttempt): string {
  return sequence === null ? 'test' : `${type} ${row_id} (number ${sequence})`
}

function outcomeOf({ status, failure, is_received }: WebhookAttempt): string {
  if (status === null) return `No answer: ${failure}`
  return is_received ? `Received (${status})` : `Refused (${status})`
}

/** What the server answered, as the text that it is. */
function AnswerDialog({ attempt, onClose }: { attempt: WebhookAttempt | null; onClose: () => void }) {
  return (
    <Modal
      opened={attempt !== null}
      onClose={onClose}
      title="Answer"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ exitDuration: 0 }}
    >
      {attempt && (
        <Stack>
          <CopyField label="Message id" value={attempt.message_id} />
          <Text size="sm">{outcomeOf(attempt)}</Text>
          {attempt.answer === null || attempt.answer === '' ? (
            <Text size="sm">The answer has no body.</Text>
          ) : (
            <Code block tabIndex={0} role="region" aria-label="Body of the answer" style={{ overflowWrap: 'anywhere' }}>
              {attempt.answer}
            </Code>
          )}
        </Stack>
      )}
    </Modal>
  )
}
