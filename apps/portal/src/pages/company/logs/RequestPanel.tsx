import { aboutError, type LoggedRequest, type RequestOutcome } from '@bridgework/contract/portal'
import { Anchor, Button, Code, Drawer, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { CopyField, Snippet } from '../../../ui/Copy.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { exactInstant } from '../../../ui/format/instant.ts'
import { indentedJson } from '../../../ui/format/json.ts'
import { formatCount } from '../../../ui/format/locale.ts'
import { valueInWords } from '../../../ui/format/plot-scale.ts'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { useCompanyParams } from '../company.ts'
import { canSendAgain, curlOf } from './curl.ts'
import { StatusBadge } from './StatusBadge.tsx'

const outcomes: Record<RequestOutcome, string> = {
  ok: 'Successful',
  throttled: 'Rate limited (429)',
  error: 'Error',
  unauthenticated: 'Failed authentication',
}

/** All that is kept of one request, and how to send it again. No token, no value of a parameter and no record is kept. */
export function RequestPanel({ request, onClose }: { request: LoggedRequest | null; onClose: () => void }) {
  return (
    <Drawer
      opened={request !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title="Request"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {request && <Details key={request.id} request={request} />}
    </Drawer>
  )
}

function Details({ request }: { request: LoggedRequest }) {
  const { environment } = useSuspenseQuery(read('getEnvironment')).data
  const curl = curlOf(request, `${location.origin}/api/v1/vendors`)
  return (
    <Stack>
      <CopyField label="Request id" value={request.request_id} />
      <Table variant="vertical" layout="fixed">
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
      <Text size="sm" c="dimmed">
        Tokens, values of parameters and records are not kept.
      </Text>
      {curl && <Snippet label="As curl" code={curl} />}
      {environment === 'sandbox' && canSendAgain(request) && <SendAgain request={request} />}
    </Stack>
  )
}

/** In the sandbox: the same route and location, without parameters. */
function SendAgain({ request: { route, location_id } }: { request: LoggedRequest }) {
  const params = useCompanyParams()
  const may = useMay(params.company_id)
  const again = useAct('sendAgain')
  if (!may('first_call.make')) return <WhoMay action="first_call.make" what="send a request from here" />
  return (
    <>
      <Button
        variant="default"
        loading={again.isPending}
        onClick={() => again.mutate({ params, body: { route, location_id } })}
      >
        Send again without parameters
      </Button>
      <ErrorNote error={again.error} />
      {again.data && (
        <div role="status">
          <Snippet
            label={`Response: ${again.data.status}, after ${again.data.duration_ms} ms`}
            code={indentedJson(again.data.body)}
          />
        </div>
      )}
    </>
  )
}

function factsOf(request: LoggedRequest): (readonly [string, ReactNode])[] {
  const { code, meaning, because, parameter, rule, rule_meaning, location_id, client_id } = request
  return [
    ['Answered', exactInstant(request.answered_at)],
    ['Request', <Code key="request">{`${request.method} ${request.route}`}</Code>],
    ['Status', <StatusBadge key="status" status={request.status} />],
    ['Outcome', outcomes[request.outcome]],
    ...(code ? [['Code', <Code key="code">{code}</Code>] as const] : []),
    ...(meaning ? [['Meaning', meaning] as const] : []),
    ...(rule
      ? [['Parameter', parameter ? <Code key="parameter">{parameter}</Code> : 'One that is not known'] as const]
      : []),
    ...(rule ? [['Rule', rule_meaning ?? rule] as const] : []),
    ...(because ? [['Reason', reasons[because] ?? because] as const] : []),
    ...(code
      ? [
          [
            'Guide',
            <Anchor key="guide" href={aboutError(code)} target="_blank" rel="noreferrer" size="sm">
              What {code} means and what to do
            </Anchor>,
          ] as const,
        ]
      : []),
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
