import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { endExpiredGrants } from '../../consent/grant.ts'
import { recheckDomains, setDomain } from '../../directory/domain.ts'
import type { NoticeWorld } from './test-notices.ts'

type Place = {
  location: Awaited<ReturnType<NoticeWorld['addLocation']>>
  vendor: Awaited<ReturnType<NoticeWorld['addVendor']>>
}

/** What happens to requests for access, to a vendor's identity and to the end of an access. `world`: known once the tests have begun. */
export function identityCauses(world: () => NoticeWorld) {
  const practiceAdmin = ({ location }: Place) => world().signInAs({ organizationId: location.organizationId }, 'admin')
  const vendorAdmin = ({ vendor }: Place) => world().signInAs({ companyId: vendor.companyId }, 'admin')
  const askForAccess = async (place: Place) => {
    const admin = await vendorAdmin(place)
    const asked = { datasets: ['patients'], locations: '', purpose: 'Recall' }
    const path = `/companies/${place.vendor.companyId}/access_requests`
    const answer = await admin.post(path, { ...asked, organization_id: place.location.organizationId })
    assert.equal(answer.status, 200, answer.text)
  }
  const answerRequest = (how: string, body: object) => async (place: Place) => {
    const admin = await practiceAdmin(place)
    const path = `/organizations/${place.location.organizationId}/access_requests`
    const [request] = (await admin.get(path)).body.data
    assert.ok(request, 'the request is listed')
    const answer = await admin.post(`${path}/${request.id}/${how}`, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const verify = (isVerified: boolean) => async (place: Place) => {
    const admin = await world().signInAs('operator', 'admin')
    const path = `/operator/companies/${place.vendor.companyId}/verification`
    const answer = await admin.put(path, { is_verified: isVerified, reason: 'A letter came back.' })
    assert.equal(answer.status, 200, answer.text)
  }
  const reachEnd = async ({ vendor }: Place) => {
    await world().ownerPool.query(
      `update access_grant set ends_at = now() - interval '1 minute' where company_id = $1`,
      [vendor.companyId],
    )
    await endExpiredGrants(world().pool)
  }
  const rename = async (place: Place) => {
    const admin = await vendorAdmin(place)
    const name = `Zenith ${randomUUID().slice(0, 8).replaceAll(/\d/g, 'x')}`
    const answer = await admin.patch(`/companies/${place.vendor.companyId}`, { name })
    assert.equal(answer.status, 200, answer.text)
  }
  const loseProof = async ({ vendor }: Place) => {
    const { companyId } = vendor
    await setDomain(world().pool, companyId, 'acme.example')
    await world().pool.query(
      `update company_domain set verified_at = now(), method = 'dns', checked_at = now() where company_id = $1`,
      [companyId],
    )
    const failing = () => Promise.reject(new Error('nothing is there'))
    for (let day = 1; day <= 3; day += 1) {
      const now = () => new Date(Date.now() + day * 86_400_000 + day)
      await recheckDomains({
        pool: world().pool,
        access: { resolveTxt: failing, fetch: failing, originOf: (domain) => `https://${domain}` },
        now,
      })
    }
  }
  return { askForAccess, answerRequest, verify, reachEnd, rename, loseProof }
}
