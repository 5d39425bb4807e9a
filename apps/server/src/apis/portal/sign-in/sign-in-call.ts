import type { SignInAnswers, SignInBodies, SignInRouteName } from '@bridgework/contract/portal'
import type { AccountEvent } from '../../../modules/sign-in/account-event.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import type { PortalContext } from '../shared/context.ts'

/** One sign-in request, after its gate. */
export type SignInCall<Name extends SignInRouteName = SignInRouteName> = {
  /** As better-auth reads them: the cookies, and the caller's address as we worked it out. */
  headers: Headers
  body: Name extends keyof SignInBodies ? SignInBodies[Name] : undefined
  person: Name extends WithPerson ? Person : Person | null
  ip: string
  requestId: string
}

type WithPerson =
  | 'changePassword'
  | 'requestEmailChange'
  | 'enableTwoFactor'
  | 'disableTwoFactor'
  | 'renewRecoveryCodes'
  | 'getPasskeyRegistration'
  | 'registerPasskey'
  | 'listPasskeys'
  | 'deletePasskey'

/** What came of it: the answer, the headers of better-auth's with its cookies, and what goes on record of whom. */
export type SignInOutcome<Answer> = {
  answer: Answer
  headers?: Headers
  event?: AccountEvent
}

export type SignInHandler<Name extends SignInRouteName> = (
  context: PortalContext,
  call: SignInCall<Name>,
) => Promise<SignInOutcome<SignInAnswers[Name]>>
