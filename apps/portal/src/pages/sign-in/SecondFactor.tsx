import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { callSignIn } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'

/** The second factor: a code of the authenticator app, or a recovery code. */
export function SecondFactor({ onDone, onBack }: { onDone: () => Promise<unknown>; onBack: () => void }) {
  const [isRecovery, setIsRecovery] = useState(false)
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: '' } })
  const verify = useMutation({
    mutationFn: async ({ code }: { code: string }) => {
      await callSignIn(isRecovery ? 'verifyRecoveryCode' : 'verifyTotp', { code: code.replaceAll(/\s/g, '') })
      await onDone()
    },
    gcTime: 0,
  })
  return (
    <form onSubmit={form.onSubmit((values) => verify.mutate(values))}>
      <Stack>
        <Text size="sm">
          {isRecovery
            ? t(
                'Enter one of the recovery codes that you stored when you set up two-factor sign-in. Each code works once.',
              )
            : t('Enter the code that your authenticator app shows for Bridgework.')}
        </Text>
        <ErrorNote error={verify.error} />
        <TextInput
          // Another field, so that nothing of the first is left in it.
          key={isRecovery ? 'recovery' : form.key('code')}
          {...form.getInputProps('code')}
          label={isRecovery ? t('Recovery code') : t('Code from the app')}
          autoComplete={isRecovery ? 'off' : 'one-time-code'}
          inputMode={isRecovery ? 'text' : 'numeric'}
          maxLength={20}
          required
          withAsterisk={false}
          autoFocus
          data-autofocus
        />
        <Button type="submit" loading={verify.isPending}>
          {t('Confirm')}
        </Button>
        <Group justify="space-between">
          <Button variant="subtle" size="compact-sm" onClick={onBack}>
            {t('Back')}
          </Button>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              form.reset()
              verify.reset()
              setIsRecovery(!isRecovery)
            }}
          >
            {isRecovery ? t('Use the app instead') : t('Use a recovery code')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
