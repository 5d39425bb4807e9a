import { type Static, type TProperties, Type } from 'typebox'
import { changeKinds } from '../changes.ts'
import { datasetNames, datasetsWithNotes } from '../datasets.ts'
import { incidentStates } from './incident.ts'
import { deliveries, type NoticeKind, noticeKinds } from './notice.ts'
import type { PortalRouteName } from './route.ts'
import { sandboxAction } from './sandbox.ts'

const name = Type.String({ minLength: 1, maxLength: 200, description: 'A name' })
const email = Type.String({ minLength: 3, maxLength: 254, description: 'An e-mail address' })
const password = Type.String({ maxLength: 256, description: '15 characters or more' })
const token = Type.String({ maxLength: 200, description: 'The secret part of a link that was mailed' })
const timeZone = Type.Union([Type.String({ maxLength: 100 }), Type.Null()], { description: 'An IANA time zone' })
/** Which of them a side has is in `rolesOf`. */
const givenRole = Type.Enum(['admin', 'member', 'support'])
/** For the history. Support gives one with every act. */
const reason = Type.Optional(Type.String({ maxLength: 500, description: 'Why, without a name of a patient' }))
const message = Type.String({ maxLength: 600, description: 'For the vendor' })
/** Of a grant. Left out: as it is. Empty, or null: none. */
const purpose = Type.String({ maxLength: 600, description: 'What the access is for' })
const endsOn = Type.Union([Type.String({ maxLength: 10, description: 'The last day of the access' }), Type.Null()])
const datasets = Type.Array(Type.Enum([...datasetNames]), { uniqueItems: true })
const types = Type.Array(Type.Enum([...changeKinds]), { uniqueItems: true, minItems: 1 })
const notes = Type.Array(Type.Enum([...datasetsWithNotes]), { uniqueItems: true })
const seenList = Type.String({ maxLength: 64, description: 'The list that was seen' })
/** Public: everyone reads it. */
const incidentUpdate = {
  state: Type.Enum([...incidentStates]),
  text: Type.String({ maxLength: 2000, description: 'For everyone' }),
  reason,
}
const tenant = body({ name, owner: Type.Object({ email, name }, { additionalProperties: false }), reason })

/** What each route that takes a body takes. A route that is not here takes none. */
export const portalBodies = {
  /** `time_zone`: of a practice. */
  signUp: body({
    side: Type.Enum(['company', 'organization']),
    tenant_name: name,
    name,
    email,
    password,
    time_zone: Type.Optional(timeZone),
  }),
  findSignUp: body({ token }),
  /** `about`: what the form says of a person without a session. */
  checkPassword: body({ password, about: Type.Array(Type.String({ maxLength: 254 }), { maxItems: 5 }) }),
  findInvitation: body({ token }),
  /** Name and password: for a person without an account. One who has an account is signed in and sends neither. */
  acceptInvitation: body({ token, name: Type.Optional(name), password: Type.Optional(password) }),
  updateAccount: body({ name }),
  changeNoticeSetting: body({
    tenant_id: Type.String({ maxLength: 36 }),
    kind: Type.Enum(Object.keys(noticeKinds) as NoticeKind[]),
    delivery: Type.Enum([...deliveries]),
  }),
  /** `with_older`: also all that came before it. */
  markNoticesRead: body({ id: Type.String({ maxLength: 19, pattern: '^[1-9][0-9]*$' }), with_older: Type.Boolean() }),
  inviteMember: body({ email, name, role: givenRole }),
  updateMember: body({ role: givenRole }),
  /** Without a secret: the one before stays. */
  saveIdentityProvider: body({
    sign_in_name: Type.String({ maxLength: 40 }),
    name,
    issuer: Type.String({ minLength: 1, maxLength: 500, description: 'An address' }),
    client_id: name,
    client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'A client secret' })),
    counts_as_second_factor: Type.Boolean(),
    required: Type.Boolean(),
  }),
  changeSignInRule: body({ second_factor_required: Type.Boolean() }),
  transferOwnership: body({ member_id: Type.String({ maxLength: 36 }) }),
  updateCompany: body({ name }),
  /** Empty texts: nothing is said. */
  updateCompanyProfile: body({
    legal_name: Type.String({ maxLength: 200 }),
    postal_address: Type.String({ maxLength: 400 }),
    website: Type.String({ maxLength: 300 }),
    contact: Type.String({ maxLength: 200 }),
    purpose: Type.String({ maxLength: 600 }),
  }),
  setCompanyLogo: body({
    png: Type.String({ maxLength: 120_000, description: 'A PNG of 128 × 128 pixels in base64' }),
  }),
  acceptAgreement: body({ version: Type.Integer({ minimum: 1 }) }),
  regenerateKeyPair: body({
    client_id: Type.String({ maxLength: 100, description: 'The pair that ends: what was seen' }),
  }),
  revokeKeyPair: body({ client_id: Type.String({ maxLength: 100 }) }),
  addWebhook: body({ url: Type.String({ maxLength: 500, description: 'An https address' }), types }),
  updateWebhook: body({ types }),
  makeFirstCall: body({ path: Type.Enum(['/organizations', '/locations']) }),
  /** The route of a logged request, as the log has it, and its location. */
  sendAgain: body({
    route: Type.String({
      maxLength: 100,
      pattern: '^/(organizations|changes|locations(/:location_id(/[a-z_]+(/digest)?)?)?)$',
      description: 'A route of the vendor API',
    }),
    location_id: Type.Union([Type.String({ maxLength: 16, pattern: '^[0-9]+$' }), Type.Null()]),
  }),
  driveSandbox: sandboxAction,
  updateOrganization: body({ name, time_zone: Type.Optional(timeZone) }),
  setSealMail: body({ is_mailed: Type.Boolean() }),
  setAgentUpdates: body({ is_on: Type.Boolean() }),
  updateLocation: body({ time_zone: timeZone }),
  takeOverLocation: body({ agent_id: Type.String({ maxLength: 16 }) }),
  takeOverAgent: body({ process_id: Type.String({ maxLength: 32, description: 'The copy that the person saw' }) }),
  /** `list_hash`: the list that the person saw. Another list by now is refused. */
  confirmRemoval: body({ list_hash: seenList }),
  rejectRemoval: body({ list_hash: seenList }),
  /**
   * `access_version`: that of the vendor's page that the person saw, so that nobody undoes what another has changed since. A location that
   * is not listed has the datasets of `all_locations` alone. Notes are those of datasets that stand beside them; left out: none.
   */
  changeVendorAccess: body({
    access_version: Type.String({ maxLength: 64 }),
    purpose: Type.Optional(purpose),
    ends_on: Type.Optional(endsOn),
    all_locations: datasets,
    all_locations_notes: Type.Optional(notes),
    locations: Type.Array(body({ id: Type.String({ maxLength: 16 }), datasets, notes: Type.Optional(notes) }), {
      maxItems: 5000,
    }),
  }),
  /** `locations`: in words, because a vendor sees no list of them; empty: all. */
  requestAccess: body({
    organization_id: Type.String({ maxLength: 20, description: 'The id that the practice gave you' }),
    datasets,
    locations: Type.String({ maxLength: 600 }),
    purpose: Type.String({ maxLength: 600 }),
  }),
  /** Of all that the vendor may read. */
  setVendorTerms: body({ purpose, ends_on: endsOn }),
  grantVendorRequest: body({
    datasets,
    /** Null: all locations, with future ones. */
    location_ids: Type.Union([Type.Array(Type.String({ maxLength: 16 }), { maxItems: 5000 }), Type.Null()]),
    message: Type.Optional(message),
    ends_on: Type.Optional(endsOn),
  }),
  declineVendorRequest: body({ message: Type.Optional(message) }),
  accountForPatient: body({
    patient_number: Type.String({ minLength: 1, maxLength: 100, description: 'Of the practice management system' }),
  }),
  /** `after`: the last record that was seen. `with_patients`: whose records they are, which needs `disclosure.identify`. */
  listDisclosedRecords: body({
    after: Type.Optional(Type.String({ maxLength: 19, pattern: '^[0-9]+$', description: 'The id of a record' })),
    with_patients: Type.Boolean(),
  }),
  findPatients: body({
    name: Type.String({ minLength: 2, maxLength: 100, description: 'A part of a name, or several' }),
    location_id: Type.Optional(Type.String({ maxLength: 16 })),
  }),
  updateAttribution: body({
    domains: Type.Array(Type.String({ maxLength: 253 }), { maxItems: 20 }),
    excluded_paths: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 }),
  }),
  /** Needs a reason of everyone. `tenant_id`: of a company or an organization. */
  beginSupportView: body({ tenant_id: Type.String({ maxLength: 36 }), reason }),
  openIncident: body({ title: Type.String({ maxLength: 200 }), ...incidentUpdate }),
  updateIncident: body(incidentUpdate),
  createOperatorCompany: tenant,
  setCompanyState: body({ state: Type.Enum(['active', 'suspended', 'closed']), reason }),
  /** To take a verification back needs a reason of everyone. */
  setCompanyVerification: body({ is_verified: Type.Boolean(), reason }),
  createOperatorOrganization: tenant,
  /** Needs a reason of everyone. */
  resetSecondFactor: body({ reason }),
  publishAgreement: body({
    version: Type.Integer({ minimum: 1 }),
    body: Type.String({ minLength: 1, maxLength: 200_000 }),
    grace_period_days: Type.Integer({ minimum: 0, maximum: 365 }),
    reason,
  }),
} as const satisfies Partial<Record<PortalRouteName, ReturnType<typeof body> | typeof sandboxAction>>

export type PortalBodies = { [name in keyof typeof portalBodies]: Static<(typeof portalBodies)[name]> }

function body<T extends TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: false })
}
