import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read } from '../../api/query.ts'
import { t } from '../../language/t.ts'
import { PageLink } from '../../ui/links.tsx'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Said after a mail was sent. The same whether the address has an account or not. */
export function CheckYourMail({ email, children }: { email: string; children: ReactNode }) {
  const { data } = useQuery(read('getEnvironment'))
  return (
    <SignedOutPage title={t('Check your e-mail')}>
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        <Text size="sm" c="dimmed">
          {t('No mail after a few minutes? Look in the spam folder, and check that {email} is correct.', { email })}
        </Text>
        {data?.mail_page && (
          <Text size="sm">
            {t('This is a sandbox and sends no mail: <link>read it here</link>.', {
              link: (text) => (
                <PageLink to="/mail" search={{ search: email }} underline="always">
                  {text}
                </PageLink>
              ),
            })}
          </Text>
        )}
        <PageLink to="/sign-in" size="sm">
          {t('Go to the sign-in page')}
        </PageLink>
      </Stack>
    </SignedOutPage>
  )
}
