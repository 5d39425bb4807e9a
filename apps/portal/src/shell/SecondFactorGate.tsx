import type { Membership } from '@bridgework/contract/portal'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { endSession, refreshSession, useSession } from '../api/session.ts'
import { t } from '../language/t.ts'
import { LinkProvider } from '../pages/account/IdentityLinks.tsx'
import { SignInForm } from '../pages/sign-in/SignInForm.tsx'
import { PageLink } from '../ui/links.tsx'
import { PageHeader } from '../ui/PageHeader.tsx'
import { Section } from '../ui/Section.tsx'
import { PendingPage } from './PendingPage.tsx'

// Most people never see it, so its code is read only when it is shown.
const SetUp = lazy(() => import('../pages/account/SecondFactorSetUp.tsx'))

/** What a company or practice shows: its pages, or first the second factor that it requires and the person owes. */
export function SecondFactorGate({ membership, children }: { membership: Membership; children: ReactNode }) {
  const router = useRouter()
  const { second_factor: owed, name } = membership
  const { through_provider } = useSession()
  const isOwed = owed === 'set_up' || owed === 'sign_in'
  // Stays until the person goes on: recovery codes are shown after the factor counts.
  const [isHeld, setIsHeld] = useState(isOwed)
  if (isOwed && !isHeld) setIsHeld(true)
  if (!isHeld && membership.identity_provider?.is_owed) {
    return (
      <>
        <PageHeader
          title={t('Sign in through {name}', { name: membership.identity_provider.name })}
          description={t('Members of {name} sign in through it. Link your account there to go on.', { name })}
        />
        <LinkProvider membership={membership} />
      </>
    )
  }
  if (!isHeld) {
    return (
      <>
        {owed === 'next_sign_in' && <NextTime name={name} />}
        {children}
      </>
    )
  }
  const goOn = async () => {
    await router.invalidate()
    setIsHeld(false)
  }
  return (
    <>
      <PageHeader
        title={t('A second factor is required')}
        description={
          owed === 'sign_in'
            ? t('{name} requires it of all members. You signed in without yours: sign in again with it to go on.', {
                name,
              })
            : t('{name} requires it of all members: an authenticator app or a passkey. Set one up to go on.', { name })
        }
      />
      {owed === 'sign_in' && through_provider ? (
        <Group>
          <Button onClick={() => endSession('choice')}>{t('Sign out to sign in with your second factor')}</Button>
        </Group>
      ) : owed === 'sign_in' ? (
        <SignInAgain onDone={goOn} />
      ) : (
        <Stack>
          <Suspense fallback={<PendingPage />}>
            <SetUp />
          </Suspense>
          <Group>
            <Button onClick={goOn} disabled={owed !== null}>
              {t('Continue to {name}', { name })}
            </Button>
          </Group>
        </Stack>
      )}
    </>
  )
}

function SignInAgain({ onDone }: { onDone: () => Promise<unknown> }) {
  const { user } = useSession()
  return (
    <Section title={t('Sign in again')} description={t('As {email}.', { email: user.email })}>
      <Stack maw={420}>
        <SignInForm
          email={user.email}
          onDone={async () => {
            const { user: found } = await refreshSession()
            // The passkey may belong to another person, who must not see this page.
            if (found.id !== user.id) return location.assign('/')
            await onDone()
          }}
        />
      </Stack>
    </Section>
  )
}

function NextTime({ name }: { name: string }) {
  return (
    <Alert variant="light" mb="md" role="status">
      <Text size="sm" c="bright">
        {t(
          '{name} requires a second factor of all members. <link>Set one up in your account</link>. From your next sign-in on, you can do nothing else here before you have one.',
          {
            name,
            link: (text) => (
              <PageLink to="/account" search={{ tab: 'security' }} underline="always" inherit>
                {text}
              </PageLink>
            ),
          },
        )}
      </Text>
    </Alert>
  )
}
