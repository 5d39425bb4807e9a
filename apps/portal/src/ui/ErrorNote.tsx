import { Alert, Code, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { PortalError } from '../api/call.ts'

/** Why an act was refused, in the server's words, with the request's id for whoever helps. Nothing where there is no error. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null
  const known = error instanceof PortalError ? error : null
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle size={18} aria-hidden />}>
      <Text size="sm" c="bright">
        {known?.message ?? 'Something went wrong. Try again; if it happens again, tell us.'}
      </Text>
      {known?.requestId && (
        <Text size="xs" c="bright" mt={4}>
          Request <Code>{known.requestId}</Code>
        </Text>
      )}
    </Alert>
  )
}
