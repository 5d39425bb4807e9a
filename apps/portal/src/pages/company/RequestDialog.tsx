import type { LoggedRequest, RequestOutcome } from '@bridgework/contract/portal'
import { Code, Modal, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyField } from '../../ui/Copy.tsx'
import { exactInstant } from '../../ui/format/instant.ts'
import { formatCount } from '../../ui/format/locale.ts'
import { valueInWords } from '../../ui/format/plot-scale.ts'

const outcomes: Record<RequestOutcome, string> = {
  ok: 'Successful',
  throttled: 'Rate limited (429)',
  error: 'Error',
  unauthenticated: 'Failed authentication',
}

/** All that is kept of one request. No token, no parameter and no record is. */
export function RequestDialog({ request, onClose }: { request: LoggedRequest | null; onClose: () => void }) {
  return (
    <Modal
      opened={request !== null}
      onClose={onClose}
      title="Request"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {request && <CopyField label="Request id" value={request.request_id} />}
      {request && (
        <Table variant="vertical" layout="fixed" mt="md">
          <Table.Tbody>
            {factsOf(request).map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" w={130}>
                  {name}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Text size="sm" c="dimmed" mt="md">
        Tokens, parameters and records are not kept.
      </Text>
    </Modal>
  )
}

function factsOf(request: LoggedRequest): (readonly [string, ReactNode])[] {
  const { code, meaning, because, location_id, client_id } = request
  return [
    ['Answered', exactInstant(request.answered_at)],
    ['Request', <Code key="request">{`${request.method} ${request.route}`}</Code>],
    ['Outcome', `${outcomes[request.outcome]}, status ${request.status}`],
    ...(code ? [['Code', <Code key="code">{code}</Code>] as const] : []),
    ...(meaning ? [['Meaning', meaning] as const] : []),
    ...(because ? [['Reason', reasons[because] ?? because] as const] : []),
    ...(location_id ? [['Location', location_id] as const] : []),
    ...(client_id ? [['Client id', <Code key="client">{client_id}</Code>] as const] : []),
    ['Records', formatCount(request.records)],
    ['Duration', valueInWords(request.duration_ms, 'ms')],
  ]
}

/** Why a key pair or a token was refused, for the company that it belongs to. */
const reasons: Readonly<Record<string, string>> = {
  'wrong secret': 'The client secret is not that of this client id.',
  revoked: 'The key pair was revoked. Use the live one.',
  company: 'The company is suspended or closed.',
  agreement: 'The developer API agreement is not accepted.',
  expired: 'The token has expired. Request a new one.',
  'key pair revoked or company not active': 'The key pair was revoked, or the company is suspended or closed.',
}
