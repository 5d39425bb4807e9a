import { Anchor, Card, Stack, Text, Title } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { read } from '../../api/query.ts'
import { t } from '../../language/t.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { type ListSearch, useUrlState } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { partsOfMail } from './mail-text.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** The mails of a sandbox, which sends none. */
export function MailPage() {
  const [{ search = '' }] = useUrlState<ListSearch>()
  const { data } = useSuspenseQuery(read('listSandboxMail', {}, { everyMs: 5000 })).data
  const sought = search.toLowerCase()
  const found = data.filter(({ recipient, subject }) => `${recipient} ${subject}`.toLowerCase().includes(sought))
  return (
    <SignedOutPage
      title={t('Sandbox mail')}
      description={t('This sandbox sends no mail. The mails that it would have sent are listed here, newest first.')}
    >
      <SearchField label={t('Search mails')} placeholder={t('Recipient or subject')} />
      {found.length === 0 && (
        <EmptyState icon={IconMail} title={data.length === 0 ? t('No mail yet') : t('No mail matches the search')}>
          {t('A mail appears here when you sign up, invite a member or request a new password.')}
        </EmptyState>
      )}
      <Stack>
        {found.map(({ sent_at, recipient, subject, text }) => (
          <Card key={`${sent_at} ${recipient} ${subject}`} withBorder component="article">
            <Title order={2} size="h5">
              {subject}
            </Title>
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {t('To {recipient} · {when}', { recipient, when: <When at={sent_at} /> })}
            </Text>
            <Text size="sm" mt="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {partsOfMail(text, location.origin).map(({ text, href }, index) => (
                // The parts of one text never change their order.
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <Fragment key={index}>
                  {href ? (
                    <Anchor href={href} underline="always" inherit>
                      {text}
                    </Anchor>
                  ) : (
                    text
                  )}
                </Fragment>
              ))}
            </Text>
          </Card>
        ))}
      </Stack>
    </SignedOutPage>
  )
}
