import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read } from '../../api/query.ts'
import { PageLink } from '../../ui/links.tsx'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Said after a mail was sent. The same whether the address has an account or not. */
export function CheckYourMail({ email, children }: { email: string; children: ReactNode }) {
  const { data } = useQuery(read('getEnvironment'))
  return (
    <SignedOutPage title="Check your mail">
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        <Text size="sm" c="dimmed">
          Nothing there after a few minutes? Look in the spam folder, and whether {email} is written right.
        </Text>
        {data?.mail_page && (
          <Text size="sm">
            This is a sandbox, which sends no mail:{' '}
            <PageLink to="/mail" search={{ search: email }} underline="always">
              read it here
            </PageLink>
            .
          </Text>
        )}
        <PageLink to="/sign-in" size="sm">
          To the sign-in
        </PageLink>
      </Stack>
    </SignedOutPage>
  )
}
