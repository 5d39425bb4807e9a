import { type DatasetName, datasetNames, getDataset, vendorApiPath } from '@bridgework/contract'
import { portalApiPath } from '@bridgework/contract/portal'
import type { createRandom } from '@bridgework/practice-simulator'
import { ApiError, Bridgework } from '../../../../../packages/client/src/index.ts'
import type { PortalWorld } from '../../apis/portal/testing/test-portal.ts'
import { aRecord, type TestLocation, type TestVendor } from '../../testing/test-world.ts'
import type { Recorder } from './test-recorded-requests.ts'

type Random = ReturnType<typeof createRandom>

/** What a client asks once: a page's walk, a delta, a single record, an act. What the service may not answer throws. */
export type Ask = () => Promise<unknown>

const recordsOfEach = 30
const baseUrl = 'http://servers.example'

/** Two practices with records of every dataset, of which a vendor may read all of the first and none of the second. */
export async function fillPractices(world: PortalWorld) {
  const own = await world.addLocation()
  const foreign = await world.addLocation({ insurancePlans: 1 })
  for (const name of datasetNames) {
    const records = Array.from({ length: recordsOfEach }, (_, index) => [`${name}-${index}`, recordOf(name, index)])
    const { status, text } = await own.upload(name, Object.fromEntries(records))
    if (status !== 200) throw new Error(`${name} were not stored: ${text}`)
  }
  return { own, foreign }
}

function recordOf(name: DatasetName, index: number): object {
  const hasPatient = getDataset(name).filters.includes('patient_id')
  return aRecord(name, hasPatient ? { patient_source_id: `patients-${index % 10}` } : {})
}

/** Everything that a vendor's program asks, through the real client where it has a method for it. */
export function asVendor(
  { fetchAs }: Recorder,
  random: Random,
  vendor: TestVendor,
  { own, foreign }: { own: TestLocation; foreign: TestLocation },
): Ask[] {
  const { clientId, clientSecret, companyId } = vendor
  const recorded = fetchAs(companyId)
  const client = new Bridgework({
    baseUrl,
    clientId,
    clientSecret,
    fetch: recorded,
    retry: { attempts: 20, delayMaxMs: 200 },
  })
  const raw = async (path: string, method = 'GET') => {
    const answer = await recorded(`${baseUrl}${vendorApiPath}${path}`, {
      method,
      headers: { authorization: `Bearer ${await vendor.token()}` },
    })
    return { status: answer.status, body: await answer.text() }
  }
  const refused = (status: number, path: string) => async () => {
    const answer = await raw(path)
    if (![status, 429, 503].includes(answer.status)) throw new Error(`${path} was answered ${answer.status}`)
  }
  const anyDataset = () => client.dataset(random.pick(datasetNames))
  const walk = async (options: object) => {
    for await (const _ of anyDataset().list({ locationId: own.id, pageSize: random.whole(5, 40), ...options }));
  }
  const ids: string[] = []
  return [
    () => walk({}),
    () => walk({ modifiedSince: new Date(Date.now() - random.whole(0, 60_000)) }),
    // So far ahead as a wrong clock may be: nothing changed since, so the answer is empty and no disclosure.
    () => walk({ modifiedSince: new Date(Date.now() + 290_000) }),
    async () => {
      for await (const { id } of client.patients.list({ locationId: own.id })) ids.push(id)
      for await (const _ of client.appointments.list({ locationId: own.id, patientId: random.pick(ids) }));
    },
    async () => {
      // No record matches, which is what was asked about a patient.
      for await (const _ of client.treatments.list({ locationId: own.id, patientId: '999999999' }));
    },
    async () => {
      const first = await client.insurancePlans.first({ locationId: own.id })
      if (first) await client.insurancePlans.get({ locationId: own.id, id: first.id })
      await raw(`/locations/${own.id}/insurance_plans/${first?.id}`, 'HEAD')
    },
    () => raw(`/locations/${own.id}/${random.pick(datasetNames)}/digest`),
    () => raw(`/locations/${own.id}/${random.pick(datasetNames)}/export`),
    () => raw(`/locations/${own.id}/${random.pick(datasetNames)}`, 'HEAD'),
    () => raw('/locations'),
    refused(403, `/locations/${foreign.id}/insurance_plans`),
    refused(404, '/locations/999999999999/insurance_plans'),
    refused(404, `/locations/${own.id}/insurance_plans/999999999999`),
    refused(422, `/locations/${own.id}/patients?items=0`),
  ].map((ask) => orRefused(ask))
}

/** While servers are killed the client gives up after its last try, with an error that says so; anything else is a bug. */
function orRefused(ask: Ask): Ask {
  return async () => {
    try {
      await ask()
    } catch (error) {
      const isLost = error instanceof TypeError || (error instanceof ApiError && (error.status ?? 503) >= 429)
      if (!isLost) throw error
    }
  }
}

/** What owners of practice and service do in the portal, each act one that the history keeps; and what is refused to them. */
export async function asPeople({ fetchAs }: Recorder, random: Random, world: PortalWorld, own: TestLocation) {
  const { organizationId } = own
  const spare = await world.addVendor()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const member = await world.signInAs({ organizationId }, 'member')
  const operator = await world.signInAs('operator', 'admin')

  const act = async (
    who: { cookie: string; csrfToken: () => Promise<string>; person: { userId: string } },
    action: string | null,
    method: string,
    path: string,
    body?: object,
  ) => {
    const answer = await fetchAs(who.person.userId, action)(`${baseUrl}${portalApiPath}${path}`, {
      method,
      headers: {
        cookie: who.cookie,
        origin: 'https://api.example.com',
        'content-type': 'application/json',
        'x-csrf-token': await who.csrfToken(),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return JSON.parse(await answer.text())
  }
  const practice = `/organizations/${organizationId}`
  return [
    () => act(owner, 'organization.update', 'PATCH', practice, { name: `Practice ${random.whole(1, 999)}` }),
    () => act(owner, 'agent.enroll', 'POST', `${practice}/enrolment_codes`),
    () => act(member, 'organization.update', 'PATCH', practice, { name: 'Refused' }),
    () => act(member, null, 'GET', practice),
    async () => {
      const access = `${practice}/vendors/${spare.companyId}`
      // The other of two: what changes nothing is no act.
      const { access_version, locations: granted } = await act(owner, null, 'GET', access)
      const hasBoth = granted.find(({ id }: { id: string }) => id === own.id).datasets.length === 2
      const locations = [{ id: own.id, datasets: hasBoth ? ['patients'] : ['patients', 'appointments'] }]
      await act(owner, 'grant.change', 'PUT', `${access}/access`, { access_version, all_locations: [], locations })
    },
    () => {
      const state = random.pick(['suspended', 'active'])
      return act(operator, 'operator.company_suspend', 'POST', `/operator/companies/${spare.companyId}/state`, {
        state,
      })
    },
    async () => {
      const { email, userId } = member.person
      const password = random.chance(0.7) ? member.person.password : 'a wrong and long password'
      const signIn = fetchAs(userId, 'account.sign_in')
      await signIn(`${baseUrl}${portalApiPath}/auth/sign-in/email`, {
        method: 'POST',
        headers: { origin: 'https://api.example.com', 'content-type': 'application/json' },
        body: JSON.stringify({ email, password }),
      })
    },
  ].map(orRefused)
}
