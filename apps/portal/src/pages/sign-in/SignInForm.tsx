import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { callSignIn, PortalError } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { SecondFactor } from './SecondFactor.tsx'

/**
 * Signing in: password and, where the account has one, second factor; or a passkey, which is both. `email`: for a person who is known and
 * confirms who they are. `onDone` runs after the sign-in. `links`: below the password.
 */
export function SignInForm({
  email,
  onDone,
  links,
}: {
  email?: string
  onDone: () => Promise<unknown>
  links?: ReactNode
}) {
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: email ?? '', password: '' },
    validate: {
      email: (text) => (/^[^\s@]+@[^\s@]+$/.test(text.trim()) ? null : t('Enter your e-mail address.')),
      password: (text) => (text === '' ? t('Enter your password.') : null),
    },
  })
  const password = useMutation({
    mutationFn: async (values: { email: string; password: string }) => {
      const { second_factor_required } = await callSignIn('signIn', { ...values, email: values.email.trim() })
      if (second_factor_required) setNeedsCode(true)
      else await onDone()
    },
    gcTime: 0,
  })
  const passkey = useMutation({
    mutationFn: async ({ fromAutofill }: { fromAutofill: boolean }) => {
      if (await signInWithPasskey(fromAutofill)) await onDone()
    },
  })
  useAutofill(email === undefined, () => passkey.mutate({ fromAutofill: true }))

  if (needsCode) return <SecondFactor onDone={onDone} onBack={() => setNeedsCode(false)} />
  return (
    <form onSubmit={form.onSubmit((values) => password.mutate(values))} noValidate>
      <Stack>
        <ErrorNote error={password.error ?? passkey.error} />
        {email === undefined ? (
          <TextInput
            label={t('E-mail address')}
            type="email"
            autoComplete="username webauthn"
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
        ) : (
          // A password manager finds the account by it.
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        )}
        <PasswordInput
          label={t('Password')}
          autoComplete="current-password"
          data-autofocus={email !== undefined || undefined}
          visibilityToggleButtonProps={{ 'aria-label': t('Show password') }}
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        {links}
        <Button type="submit" loading={password.isPending}>
          {email === undefined ? t('Sign in') : t('Confirm')}
        </Button>
        {browserSupportsWebAuthn() && (
          <>
            <Divider label={t('or')} />
            <Button
              variant="default"
              leftSection={<IconFingerprint size={18} aria-hidden />}
              onClick={() => passkey.mutate({ fromAutofill: false })}
            >
              {email === undefined ? t('Sign in with a passkey') : t('Confirm with a passkey')}
            </Button>
          </>
        )}
      </Stack>
    </form>
  )
}

/** False when the person chose none: that is no error. */
async function signInWithPasskey(fromAutofill: boolean): Promise<boolean> {
  const response = await askForPasskey(fromAutofill).catch((error: unknown) => {
    // Autofill is an offer that the person did not ask for. Browsers refuse it in many ways; the form works without it.
    if (fromAutofill || isDeclined(error)) return null
    if (error instanceof PortalError) throw error
    throw new PortalError(
      0,
      'passkey_refused',
      t('This browser cannot use a passkey here. Sign in with your password.'),
      null,
    )
  })
  if (response === null) return false
  await callSignIn('signInWithPasskey', { response })
  return true
}

async function askForPasskey(useBrowserAutofill: boolean) {
  const options = await callSignIn('getPasskeySignIn', undefined)
  return await startAuthentication({
    // What better-auth makes for it.
    optionsJSON: options as Parameters<typeof startAuthentication>[0]['optionsJSON'],
    useBrowserAutofill,
  })
}

function isDeclined(error: unknown): boolean {
  return error instanceof WebAuthnError || (error instanceof Error && error.name === 'NotAllowedError')
}

/** Offers passkeys among what the browser fills into the e-mail field, where the browser can. */
function useAutofill(isOn: boolean, offer: () => void): void {
  const latest = useRef(offer)
  useEffect(() => {
    if (!isOn) return
    let isGone = false
    void browserSupportsWebAuthnAutofill().then((supported) => {
      if (supported && !isGone) latest.current()
    })
    return () => {
      isGone = true
      WebAuthnAbortService.cancelCeremony()
    }
  }, [isOn])
}
