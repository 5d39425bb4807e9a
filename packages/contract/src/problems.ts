// Every error that leaves the service: `code` (the key) for programs, `errors` for the person who reads it, the HTTP status for the edge.
// docs/errors.md lists the same table and a test keeps both equal. A code is never reused for another meaning.
// Retired: thing_unknown (now not_found), act_refused (now a code of its own for each reason), idempotency_in_progress,
// backup_unusable, database_not_empty.

type Row = { status: number; errors: string }

/** What any API may answer. */
const anyApi = {
  body_malformed: { status: 400, errors: 'The request body is not valid JSON.' },
  request_malformed: { status: 400, errors: 'The request is not valid HTTP.' },
  route_unknown: { status: 404, errors: 'Resource not found: there is no such path.' },
  organization_unknown: { status: 404, errors: 'Resource not found: there is no such organization.' },
  location_unknown: { status: 404, errors: 'Resource not found: there is no such location.' },
  method_not_allowed: {
    status: 405,
    errors: 'This path does not support this method. The header Allow lists the methods that it supports.',
  },
  request_timeout: { status: 408, errors: 'The request took too long to arrive.' },
  body_too_large: { status: 413, errors: 'The request body is too large.' },
  uri_too_long: { status: 414, errors: 'The request URL is too long: at most 8,000 characters.' },
  content_type_unsupported: { status: 415, errors: 'Send the body as Content-Type: application/json.' },
  content_encoding_unsupported: {
    status: 415,
    errors: 'The body may be sent as it is or with Content-Encoding: gzip.',
  },
  parameter_invalid: { status: 422, errors: 'A parameter is not valid.' },
  field_invalid: { status: 422, errors: 'A field of the body is not valid.' },
  headers_too_large: { status: 431, errors: 'The request headers are too large: at most 16 KiB.' },
  internal: { status: 500, errors: 'Internal error. Give the request id when you ask for help.' },
  overloaded: { status: 503, errors: 'The service has too much to do at the moment. Try again shortly.' },
  restore_unmarked: {
    status: 503,
    errors:
      'The database of the service is older than what it has told you: it was restored from a backup. The operator runs "database restored", then try again.',
  },
  unavailable: { status: 503, errors: 'The service is temporarily unavailable. Try again shortly.' },
} as const satisfies Record<string, Row>

const vendorApi = {
  token_required: {
    status: 401,
    errors: 'Not authorized: send "Authorization: Bearer <ACCESS_TOKEN>" with a token from POST /auth/token.',
  },
  token_invalid: {
    status: 401,
    errors: 'Not authorized: the token is invalid or has expired. Get a new one from POST /auth/token.',
  },
  credentials_invalid: { status: 401, errors: 'Invalid client credentials' },
  location_denied: { status: 403, errors: 'Access denied: this credential may not access this location.' },
  organization_denied: { status: 403, errors: 'Access denied: this credential may not access this organization.' },
  dataset_denied: { status: 403, errors: 'Access denied: the practice has not granted this dataset of this location.' },
  agreement_required: {
    status: 403,
    errors: 'Access denied: the account owner must accept the current developer API agreement first.',
  },
  record_unknown: { status: 404, errors: 'Resource not found: there is no such record in this location.' },
  preview_off: { status: 404, errors: 'Resource not found: this operation is not yet available in production.' },
  credentials_malformed: { status: 422, errors: 'client_id and client_secret are required strings' },
  token_requests_exceeded: {
    status: 429,
    errors: 'Too many token requests from this address: at most 10 in any 60 seconds. Keep a token for its whole life.',
  },
  sync_slots_exceeded: { status: 429, errors: 'Too many locations are syncing concurrently.' },
  requests_exceeded: {
    status: 429,
    errors: 'Too many requests of this company are in progress. Wait until some are answered, then try again.',
  },
  disclosure_unavailable: {
    status: 503,
    errors: 'This read could not be recorded as a disclosure, so nothing was sent. Try again shortly.',
  },
} as const satisfies Record<string, Row>

/** The API with which a vendor drives its own practice of a sandbox. Production has none. */
const sandboxApi = {
  sandbox_practice_unknown: {
    status: 404,
    errors: 'Your company has no practice of its own in this sandbox yet. It gets one within seconds of its sign-up.',
  },
  sandbox_reset_denied: {
    status: 409,
    errors: 'The demo practice cannot be reset. Sign up as a vendor in the portal: you get a practice that can.',
  },
  sandbox_busy: {
    status: 503,
    errors: 'The demo practice could not do this at the moment. Try again shortly.',
  },
} as const satisfies Record<string, Row>

const ingestApi = {
  agent_key_invalid: {
    status: 401,
    errors: 'Not authorized: the agent key is missing, wrong or revoked. Enrol the agent again.',
  },
  enrolment_code_invalid: {
    status: 401,
    errors: 'The enrolment code is wrong, expired or already used. Ask for a new one.',
  },
  agent_denied: { status: 403, errors: 'Access denied: this agent may not write here.' },
  dataset_unknown: { status: 404, errors: 'Resource not found: there is no such dataset.' },
  release_unknown: {
    status: 404,
    errors: 'Resource not found: there is no such release for this agent, or it was withdrawn.',
  },
  list_unknown: {
    status: 404,
    errors: 'Resource not found: there is no such complete list. Another one has replaced it; begin a new one.',
  },
  location_written: {
    status: 409,
    errors:
      'Another agent writes at this location. If this one should write, a person lets it take over in the portal.',
  },
  agent_copied: {
    status: 409,
    errors:
      'Another copy of this agent is in use. If this one should go on, a person lets it take over in the portal, on the page of the agents.',
  },
  removal_held: {
    status: 409,
    errors: 'This list would hide so many records that a person must confirm it first.',
  },
  time_zone_required: {
    status: 422,
    errors:
      'The time zone of this location is not known. Set it in the portal or with "location update", and update the agent.',
  },
  record_invalid: { status: 422, errors: 'A line of the upload is not valid.' },
  idempotency_key_invalid: {
    status: 422,
    errors: 'Idempotency-Key must be "<agent id>-<number>" with this agent\'s id and a positive whole number.',
  },
  idempotency_key_reused: { status: 422, errors: 'Idempotency key reused with different content' },
  busy: { status: 503, errors: 'Another upload of this dataset is still being stored. Try again shortly.' },
} as const satisfies Record<string, Row>

/** What the portal answers people, and the operator's command line prints. */
const people = {
  sign_in_required: { status: 401, errors: 'You are not signed in, or your session has ended. Sign in again.' },
  sign_in_refused: { status: 401, errors: 'The e-mail address or the password is wrong.' },
  second_factor_refused: { status: 401, errors: 'This code is wrong, expired or already used. Enter a new one.' },
  passkey_refused: { status: 401, errors: 'This passkey was not accepted. Try again, or sign in with your password.' },
  origin_denied: {
    status: 403,
    errors: 'Request refused: it came from another website. Open the portal and try again.',
  },
  csrf_token_invalid: {
    status: 403,
    errors: 'Request refused: it does not belong to this session. Reload the page and try again.',
  },
  role_denied: { status: 403, errors: 'Your role does not permit this. Ask an owner or an admin.' },
  fresh_sign_in_required: { status: 403, errors: 'This needs a recent sign-in. Sign in again, then repeat it.' },
  second_factor_setup_required: {
    status: 403,
    errors: 'A second factor is required here. Set up an authenticator app or a passkey in your account first.',
  },
  second_factor_sign_in_required: {
    status: 403,
    errors: 'A second factor is required here. Sign in again with your authenticator app or your passkey.',
  },
  full_sign_in_required: {
    status: 403,
    errors:
      'You are signed in through an identity provider, for one company or practice. Sign in with your password or passkey for this.',
  },
  identity_provider_required: {
    status: 403,
    errors: 'Members sign in here through an identity provider. Sign in through it.',
  },
  identity_not_linked: {
    status: 403,
    errors:
      'This account at the identity provider belongs to no member here yet. Sign in with your password and link it.',
  },
  identity_provider_unknown: {
    status: 404,
    errors: 'There is no identity provider of this name. Check the sign-in name, or ask your IT.',
  },
  identity_sign_in_lost: {
    status: 409,
    errors:
      'This sign-in was begun in another browser or tab or more than 10 minutes ago, or has ended already. Begin again.',
  },
  identity_linked: {
    status: 409,
    errors: 'This account at the identity provider belongs to another member already. Sign in there as yourself.',
  },
  identity_provider_failed: {
    status: 409,
    errors: 'The sign-in at the identity provider failed. Try again; if it happens again, ask your IT.',
  },
  identity_provider_untested: {
    status: 409,
    errors: 'Save these settings without requiring the provider, test them, then require it.',
  },
  identity_provider_without_factor: {
    status: 409,
    errors:
      'A second factor is required here, and the identity provider counts as none: members could not sign in. Change one of the two first.',
  },
  sign_in_name_taken: { status: 409, errors: 'This sign-in name is taken. Choose another one.' },
  agreement_not_accepted: {
    status: 403,
    errors: 'Developer API agreement not accepted: the owner of the company must accept the current version first.',
  },
  not_found: { status: 404, errors: 'Not found. Reload the page.' },
  company_unknown: { status: 404, errors: 'Resource not found: there is no such company.' },
  person_unknown: { status: 404, errors: 'Resource not found: there is no such account.' },
  member_unknown: { status: 404, errors: 'Resource not found: there is no such member.' },
  invitation_unknown: {
    status: 404,
    errors: 'This link is no longer valid: it was used or replaced, or it has expired. Ask for a new one.',
  },
  agreement_unknown: { status: 404, errors: 'Resource not found: no such version of the agreement was published.' },
  key_pair_unknown: { status: 404, errors: 'Resource not found: the company has no such key pair.' },
  signing_key_unknown: { status: 404, errors: 'Resource not found: there is no such signing key.' },
  agent_unknown: { status: 404, errors: 'Resource not found: there is no such agent, or its key was revoked.' },
  removal_unknown: {
    status: 404,
    errors: 'Resource not found: no removal of this dataset waits for confirmation at this location.',
  },
  account_exists: { status: 409, errors: 'This e-mail address already has an account. Sign in instead.' },
  account_other: { status: 409, errors: 'This invitation is for another e-mail address.' },
  two_factor_on: { status: 409, errors: 'One-time passwords are already on.' },
  two_factor_off: { status: 409, errors: 'One-time passwords are off. Turn them on first.' },
  second_factor_kept: {
    status: 409,
    errors: 'This is your last second factor, and one is required. Set up another one first.',
  },
  second_factor_none: {
    status: 409,
    errors:
      'This account has no second factor, so there is nothing to reset. A forgotten password is replaced by the link on the sign-in page.',
  },
  second_factor_missing: {
    status: 409,
    errors: 'Set up a second factor for your own account first: an authenticator app or a passkey.',
  },
  member_exists: { status: 409, errors: 'This e-mail address already belongs to a member.' },
  members_exceeded: { status: 409, errors: 'There are 500 members already. Remove a member first.' },
  member_active: { status: 409, errors: 'This member has already accepted an invitation and can sign in.' },
  member_not_active: {
    status: 409,
    errors: 'This member has not accepted the invitation yet. Choose a member who has.',
  },
  owner_exists: { status: 409, errors: 'There is an owner already. Transfer ownership instead.' },
  owner_stays: {
    status: 409,
    errors: 'The owner cannot be removed or get another role. Transfer ownership to another member first.',
  },
  last_operator: {
    status: 409,
    errors: 'The last admin of the operators can neither be removed nor get another role. Add another admin first.',
  },
  name_taken: {
    status: 409,
    errors: 'Another company has this name, or one that looks like it. Choose another name, or ask the operator.',
  },
  company_closed: { status: 409, errors: 'The company is suspended or closed.' },
  agreement_not_current: {
    status: 409,
    errors: 'This version of the agreement is not the current one. Reload the page and accept the current version.',
  },
  agreement_version_wrong: { status: 409, errors: 'The version must be the one after the current version.' },
  key_pair_exists: {
    status: 409,
    errors: 'The company already has a live key pair. To replace it, regenerate it: the old one stops working at once.',
  },
  key_pair_required: { status: 409, errors: 'The company has no live key pair. Generate one first.' },
  key_pair_not_live: {
    status: 409,
    errors: 'This key pair is no longer live. Reload the page to see the current one.',
  },
  grant_covers_all_locations: {
    status: 409,
    errors:
      'Access covers all locations, so it cannot be revoked for single ones. ' +
      'Revoke it for all locations, then grant it for those that should keep it.',
  },
  access_changed: {
    status: 409,
    errors: 'The access has changed since you loaded this page. Nothing was saved. Review your changes again.',
  },
  removal_changed: { status: 409, errors: 'The list of records has changed. Review it again.' },
  organization_erased: { status: 409, errors: 'The organization was erased. Create a new one.' },
  confirmation_required: { status: 409, errors: 'This needs the exact name as confirmation. Nothing was erased.' },
  month_kept: { status: 409, errors: 'This month cannot be dropped. Nothing was dropped.' },
  output_unusable: { status: 409, errors: 'The export cannot be written there. Choose another folder.' },
  metrics_token_invalid: {
    status: 401,
    errors: 'The metrics need "Authorization: Bearer <token>" with the token of BRIDGEWORK_METRICS_TOKEN.',
  },
  secret_key_busy: {
    status: 409,
    errors: 'Another command rotates or drops the secret key at this moment. Wait until it has ended.',
  },
  secret_key_in_use: { status: 409, errors: 'The earlier secret key is still in use, so it was not dropped.' },
  audit_cursor_unknown: {
    status: 409,
    errors:
      'The cursor is not of this database’s chain: the database was restored from a backup, or its seals were changed. Run "disclosure verify", then export again without --after.',
  },
  stopped: { status: 503, errors: 'Stopped before the end. Repeat the command to finish.' },
  not_in_production: { status: 409, errors: 'This command creates demo data and runs in the sandbox only.' },
  access_request_unknown: { status: 404, errors: 'Resource not found: there is no such request for access.' },
  access_request_open: {
    status: 409,
    errors: 'You have an open request at this practice already. Wait for its answer, or withdraw it.',
  },
  access_request_declined: { status: 409, errors: 'The practice declined your last request. Ask again later.' },
  access_request_ended: { status: 409, errors: 'This request was answered or withdrawn already. Reload the page.' },
  access_requests_exceeded: {
    status: 429,
    errors: 'Your company has asked for access 20 times within a day. Ask again tomorrow.',
  },
  logo_invalid: { status: 422, errors: 'The logo must be a PNG of 128 × 128 pixels.' },
  domain_checked: { status: 429, errors: 'The website was checked a moment ago. Wait 10 seconds, then check again.' },
  domain_missing: { status: 409, errors: 'The company has no website to check. Enter the website first.' },
  company_not_verified: {
    status: 409,
    errors: 'The operator has not verified this company yet, so practices cannot grant it access.',
  },
  password_refused: { status: 422, errors: 'This password cannot be used. Choose another one.' },
  webhook_exists: { status: 409, errors: 'There is a webhook with this address already.' },
  webhook_unknown: { status: 404, errors: 'Not found: there is no such webhook. Reload the page.' },
  webhooks_exceeded: { status: 409, errors: 'A company has at most 10 webhooks. Remove one first.' },
  sign_in_throttled: { status: 429, errors: 'Too many attempts. Try again in 15 minutes.' },
} as const satisfies Record<string, Row>

/** What the vendor API may answer. */
export const vendorProblems = { ...anyApi, ...vendorApi } as const

/** The whole table. */
export const problems = { ...vendorProblems, ...sandboxApi, ...ingestApi, ...people } as const

export type ProblemCode = keyof typeof problems

/** What the portal may answer a person. */
export type PeopleProblemCode = keyof typeof anyApi | keyof typeof people

/** spec: Errors. The body of every error but the sync slots' 429, which carries exactly the specification's members. */
export type ErrorBody = { errors: string; code: ProblemCode; request_id: string }
