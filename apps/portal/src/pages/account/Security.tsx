import { Stack } from '@mantine/core'
import { Passkeys } from './Passkeys.tsx'
import { PasswordChange } from './PasswordChange.tsx'
import { TwoFactor } from './TwoFactor.tsx'

/** How one signs in: password, second factor, passkeys. */
export function Security() {
  return (
    <Stack>
      <PasswordChange />
      <TwoFactor />
      <Passkeys />
    </Stack>
  )
}
