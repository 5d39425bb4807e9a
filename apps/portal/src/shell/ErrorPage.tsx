import { Button, Code, Container, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { PortalError } from '../api/call.ts'
import { t } from '../language/t.ts'

/** A page that could not be read: what happened, what to do, and the request's id for support. */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter()
  const { reset } = useQueryErrorResetBoundary()
  useEffect(() => reset(), [reset])
  const known = error instanceof PortalError ? error : null
  useEffect(() => {
    if (known?.status === 401)
      router.navigate({ to: '/sign-in', search: { next: location.pathname + location.search } })
  }, [known, router])
  return (
    <Container size="sm" py="xl">
      <Stack gap="sm" role="alert">
        <Title order={1} size="h3">
          {known ? titleOf(known) : t('This page has stopped working')}
        </Title>
        <Text>
          {known?.message ?? t('The page met an unexpected error. Reload it. If that does not help, contact support.')}
        </Text>
        <Group>
          <Button onClick={() => router.invalidate()}>{t('Try again')}</Button>
          <Button variant="default" onClick={() => router.navigate({ to: '/' })}>
            {t('Go to the home page')}
          </Button>
        </Group>
        {known?.requestId && (
          <Text size="sm" c="dimmed">
            {t('Request id <code>{requestId}</code>', {
              code: (text) => <Code>{text}</Code>,
              requestId: known.requestId,
            })}
          </Text>
        )}
      </Stack>
    </Container>
  )
}

function titleOf(error: PortalError): string {
  if (error.status === 0) return t('Bridgework cannot be reached')
  if (error.status === 403) return t('Access denied')
  if (error.status === 404) return t('Not found')
  return t('The page cannot be shown')
}
