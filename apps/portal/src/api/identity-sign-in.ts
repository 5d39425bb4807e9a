import type { SignInBodies } from '@bridgework/contract/portal'
import { callSignIn } from './call.ts'

/** Sends the browser to an identity provider. The page goes away; the person comes back to `next`. */
export async function goToProvider(input: SignInBodies['startIdentitySignIn']): Promise<void> {
  const { url } = await callSignIn('startIdentitySignIn', input)
  location.assign(url)
  // The button shows that it goes on until the page is gone.
  await new Promise(() => {})
}

const nameKey = 'bridgework.sign-in-name'

/** The sign-in name with which this browser signed in last; '' before. It names an organization and no person. */
export function lastSignInName(): string {
  return localStorage.getItem(nameKey) ?? ''
}

/** Keeps the sign-in name for the next time. */
export function keepSignInName(name: string): void {
  localStorage.setItem(nameKey, name)
}
