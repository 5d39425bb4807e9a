import { aboutError } from '@bridgework/contract/portal'
import { Alert, Anchor, Code, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { PortalError } from '../api/call.ts'
import { t } from '../language/t.ts'

/** Why an action failed, as the server says it, with the request's id for support. Renders nothing without an error. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null
  const known = error instanceof PortalError ? error : null
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle size={18} aria-hidden />}>
      <Text size="sm" c="bright">
        {known?.message ?? t('An unexpected error occurred. Try again. If that does not help, contact support.')}
      </Text>
      {known?.requestId && (
        <Text size="xs" c="bright" mt={4}>
          {t('Request id <code>{requestId}</code> · <link>About this error</link>', {
            code: (text) => <Code>{text}</Code>,
            requestId: known.requestId,
            link: (text) => (
              <Anchor href={aboutError(known.code)} target="_blank" inherit c="bright" underline="always">
                {text}
              </Anchor>
            ),
          })}
        </Text>
      )}
    </Alert>
  )
}
