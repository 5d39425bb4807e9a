import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlOf } from './call.ts'

test('the address of a route has the ids that its path names, escaped; one that is missing or another does not compile', () => {
  const params = { organization_id: 'a/b', disclosure_id: '1 2' }
  assert.equal(urlOf('listDisclosedRecords', { params }), '/portal/api/organizations/a%2Fb/disclosures/1%202/records')
  assert.equal(urlOf('getStatus', {}), '/portal/api/status')
  assert.throws(() => {
    // @ts-expect-error: the id of the disclosure is missing.
    urlOf('listDisclosedRecords', { params: { organization_id: '1' } })
  }, /needs disclosure_id/)
  assert.throws(() => {
    // @ts-expect-error: the path has no company.
    urlOf('getOrganization', { params: { company_id: '1' } })
  }, /needs organization_id/)
  assert.throws(() => {
    // @ts-expect-error: there are no ids at all.
    urlOf('getOrganization', {})
  }, /needs organization_id/)
})
