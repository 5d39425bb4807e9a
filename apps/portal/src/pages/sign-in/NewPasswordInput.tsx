import { Group, PasswordInput, type PasswordInputProps, Progress, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useId } from 'react'
import { passwordAdvice, passwordLengthMin } from './password.ts'

/** A new password, and its rules while it is typed. `typed`: the field's text. */
export function NewPasswordInput({ typed, ...props }: PasswordInputProps & { typed: string }) {
  const advice = passwordAdvice(typed)
  const id = useId()
  return (
    <div>
      <PasswordInput
        autoComplete="new-password"
        description="15 characters or more, for example a sentence. Common and leaked passwords are refused."
        maxLength={256}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
        aria-describedby={id}
        {...props}
      />
      <Progress
        value={Math.min(100, ([...typed].length / passwordLengthMin) * 100)}
        size="xs"
        mt={6}
        color={advice === null ? 'teal' : 'gray'}
        aria-hidden
      />
      <Group gap={4} mt={4} id={id} role="status">
        {advice === null && <IconCheck size={14} aria-hidden />}
        <Text size="xs" c="dimmed">
          {typed === '' ? 'No password entered yet' : (advice ?? 'Long enough')}
        </Text>
      </Group>
    </div>
  )
}
