import { Stack } from '@mantine/core'
import { Passkeys } from './Passkeys.tsx'
import { TwoFactor } from './TwoFactor.tsx'

/** The two kinds of second factors, for a person who has to have one. */
export default function SecondFactorSetUp() {
  return (
    <Stack>
      <TwoFactor />
      <Passkeys />
    </Stack>
  )
}
