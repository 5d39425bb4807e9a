import type { TestContext } from 'node:test'
import type { MemberRole } from '@bridgework/contract/portal'
import { somePortalInBrowser } from './test-browser.ts'

/** A practice with a location of 30 plans, and somebody of it who is signed in. */
export async function somePractice(t: TestContext, role: MemberRole) {
  const portal = await somePortalInBrowser(t)
  const location = await portal.addLocation({ insurancePlans: 30 })
  const { organizationId } = location
  const person = await portal.addPerson('Pat Practice')
  await portal.joinOrganization(person, organizationId, role)
  const page = await portal.newPage()
  await portal.signIn(page, person)
  return { ...portal, location, organizationId, person, page, home: `/organization/${organizationId}` }
}
