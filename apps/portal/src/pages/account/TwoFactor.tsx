import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { QRCodeSVG } from 'qrcode.react'
import { useState } from 'react'
import { useSignInAct } from '../../api/query.ts'
import { refreshSession, useSession } from '../../api/session.ts'
import { CopyField } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

// off: not asked for. Each act begins with the password.
type Step =
  | { at: 'off' }
  | { at: 'password'; act: 'enable' | 'disable' | 'renew' }
  | { at: 'scan'; uri: string; codes: string[] }
  | { at: 'codes'; codes: string[] }

const titles = {
  enable: 'Set up two-factor sign-in',
  disable: 'Turn off two-factor sign-in',
  renew: 'Generate recovery codes',
}

/** The second factor: an authenticator app, and codes for when the app is lost. */
export function TwoFactor() {
  const { two_factor_enabled: isOn } = useSession().user
  const [step, setStep] = useState<Step>({ at: 'off' })
  const close = () => setStep({ at: 'off' })
  const ask = (act: 'enable' | 'disable' | 'renew') => setStep({ at: 'password', act })
  return (
    <Section
      title="Two-factor sign-in"
      description="After your password you enter a code from an app on your phone."
      actions={isOn && <StateBadge state="active" label="On" />}
    >
      {!isOn && (
        <Text size="sm">
          With it, a stolen password is not enough to sign in. You need an authenticator app, for example 1Password,
          Google Authenticator or Microsoft Authenticator.
        </Text>
      )}
      <Group>
        {isOn ? (
          <>
            <Button variant="default" onClick={() => ask('renew')}>
              Generate recovery codes
            </Button>
            <Button variant="default" onClick={() => ask('disable')}>
              Turn off
            </Button>
          </>
        ) : (
          <Button onClick={() => ask('enable')}>Set up</Button>
        )}
      </Group>
      <Modal
        opened={step.at === 'password'}
        onClose={close}
        title={step.at === 'password' ? titles[step.act] : ''}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {step.at === 'password' && <AskPassword act={step.act} onNext={setStep} onClose={close} />}
      </Modal>
      <Modal
        opened={step.at === 'scan'}
        onClose={close}
        title={titles.enable}
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {step.at === 'scan' && <Scan uri={step.uri} onDone={() => setStep({ at: 'codes', codes: step.codes })} />}
      </Modal>
      <Modal
        opened={step.at === 'codes'}
        onClose={close}
        title="Store your recovery codes"
        withCloseButton={false}
        closeOnClickOutside={false}
        closeOnEscape={false}
      >
        {step.at === 'codes' && <RecoveryCodes codes={step.codes} onStored={close} />}
      </Modal>
    </Section>
  )
}

function AskPassword({
  act,
  onNext,
  onClose,
}: {
  act: 'enable' | 'disable' | 'renew'
  onNext: (step: Step) => void
  onClose: () => void
}) {
  const form = useForm({ mode: 'uncontrolled', initialValues: { password: '' } })
  const enable = useSignInAct('enableTwoFactor')
  const disable = useSignInAct('disableTwoFactor')
  const renew = useSignInAct('renewRecoveryCodes')
  const { error, isPending } = { enable, disable, renew }[act]
  const send = (body: { password: string }) => {
    if (act === 'enable') {
      enable.mutate(body, {
        onSuccess: ({ totp_uri, recovery_codes }) => onNext({ at: 'scan', uri: totp_uri, codes: recovery_codes }),
      })
    } else if (act === 'renew') {
      renew.mutate(body, { onSuccess: ({ recovery_codes }) => onNext({ at: 'codes', codes: recovery_codes }) })
    } else {
      disable.mutate(body, {
        onSuccess: async () => {
          await refreshSession()
          notifications.show({ message: 'Two-factor sign-in is off.' })
          onClose()
        },
      })
    }
  }
  return (
    <form onSubmit={form.onSubmit(send)}>
      <Stack>
        {act === 'disable' && <Text size="sm">Your password alone will be enough to sign in.</Text>}
        {act === 'renew' && <Text size="sm">Your current codes stop working.</Text>}
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <ErrorNote error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" {...(act === 'disable' && { color: 'red' })} loading={isPending}>
            {act === 'disable' ? 'Turn off' : 'Continue'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Scan({ uri, onDone }: { uri: string; onDone: () => void }) {
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: '' } })
  const verify = useSignInAct('verifyTotp')
  return (
    <form
      onSubmit={form.onSubmit(({ code }) =>
        verify.mutate(
          { code: code.replaceAll(/\s/g, '') },
          {
            onSuccess: async () => {
              await refreshSession()
              onDone()
            },
          },
        ),
      )}
    >
      <Stack>
        <Text size="sm">Scan this code with your authenticator app, or enter the secret there.</Text>
        <Group justify="center" bg="white" p="md" style={{ borderRadius: 'var(--mantine-radius-md)' }}>
          <QRCodeSVG value={uri} size={184} title="QR code for the authenticator app" bgColor="#fff" fgColor="#000" />
        </Group>
        <CopyField label="Secret" value={new URL(uri).searchParams.get('secret') ?? ''} />
        <TextInput
          label="Code from the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={20}
          required
          withAsterisk={false}
          data-autofocus
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <ErrorNote error={verify.error} />
        <Alert variant="light">
          <Text size="sm" c="bright">
            Two-factor sign-in is on only after you enter a correct code.
          </Text>
        </Alert>
        <Group justify="flex-end">
          <Button type="submit" loading={verify.isPending}>
            Turn on
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
