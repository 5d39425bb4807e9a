import { Stack } from '@mantine/core'
import { IdentityLinks } from './IdentityLinks.tsx'
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
      <IdentityLinks />
    </Stack>
  )
}
