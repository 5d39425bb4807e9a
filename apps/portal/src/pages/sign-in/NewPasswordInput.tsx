import { Group, PasswordInput, type PasswordInputProps, Progress, Text } from '@mantine/core'
import { IconAlertCircle, IconCheck } from '@tabler/icons-react'
import { useEffect, useId, useState } from 'react'
import { call } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { passwordAdvice, passwordLengthMin } from './password.ts'

/** A new password, and its rules while it is typed. `typed`: the field's text. `facts`: what it must not contain, of a person without a session. */
export function NewPasswordInput({
  typed,
  facts = [],
  ...props
}: PasswordInputProps & { typed: string; facts?: readonly string[] }) {
  const advice = passwordAdvice(typed)
  const checked = useCheck(typed, facts)
  const refusal = advice === null && checked?.password === typed ? checked.refusal : undefined
  const id = useId()
  return (
    <div>
      <PasswordInput
        autoComplete="new-password"
        description={t(
          '15 characters or more, for example a sentence of your own. Not your name, your company’s name or a common phrase.',
        )}
        maxLength={256}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': t('Show password') }}
        aria-describedby={id}
        {...props}
      />
      <Progress
        value={Math.min(100, ([...typed].length / passwordLengthMin) * 100)}
        size="xs"
        mt={6}
        color={advice !== null ? 'gray' : refusal ? 'red' : 'teal'}
        aria-hidden
      />
      <Group gap={4} mt={4} id={id} role="status" wrap="nowrap">
        {refusal === null && <IconCheck size={14} aria-hidden />}
        {refusal && <IconAlertCircle size={14} aria-hidden style={{ flex: 'none' }} />}
        <Text size="xs" c={refusal ? 'var(--mantine-color-error)' : 'dimmed'}>
          {typed === ''
            ? t('No password entered yet')
            : (advice ?? refusal ?? (refusal === null ? t('Good password') : t('Long enough')))}
        </Text>
      </Group>
    </div>
  )
}

type Checked = { password: string; refusal: string | null } | null

const pauseMs = 400

/** What the server says of a password that is long enough, after a pause in typing. Null before, and when the server cannot say: sending the form asks again. */
function useCheck(password: string, facts: readonly string[]): Checked {
  const [checked, setChecked] = useState<Checked>(null)
  const about = JSON.stringify(facts)
  useEffect(() => {
    if (passwordAdvice(password) !== null) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      call('checkPassword', { body: { password, about: JSON.parse(about) }, signal: abort.signal })
        .then(({ refusal }) => setChecked({ password, refusal }))
        .catch(() => setChecked(null))
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [password, about])
  return checked
}
