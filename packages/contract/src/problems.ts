/**
 * Every error that leaves the service: `code` (the key) for programs, `errors` for the person who calls. docs/errors.md lists the same
 * table and a test keeps both equal. A code is never reused for another meaning.
 */
export const problems = {
  body_malformed: { status: 400, errors: 'The request body is not valid JSON.' },
  request_malformed: { status: 400, errors: 'The request could not be understood as HTTP.' },
  token_required: {
    status: 401,
    errors: 'Not authorized: send "Authorization: Bearer <ACCESS_TOKEN>" with a token from POST /auth/token.',
  },
  token_invalid: {
    status: 401,
    errors: 'Not authorized: the token is invalid or has expired. Get a new one from POST /auth/token.',
  },
  credentials_invalid: { status: 401, errors: 'Invalid client credentials' },
  agent_key_invalid: {
    status: 401,
    errors: 'Not authorized: the agent key is missing, wrong or revoked. Enrol the agent again.',
  },
  enrolment_code_invalid: {
    status: 401,
    errors: 'The enrolment code is wrong, expired or already used. Ask for a new one.',
  },
  sign_in_required: { status: 401, errors: 'Not signed in, or signed in too long ago. Sign in again.' },
  sign_in_refused: { status: 401, errors: 'The e-mail address or the password is wrong.' },
  second_factor_refused: { status: 401, errors: 'That code is wrong, expired or already used. Enter a new one.' },
  passkey_refused: { status: 401, errors: 'That passkey was not accepted. Try again, or sign in with your password.' },
  origin_denied: { status: 403, errors: 'Refused: this request came from a page that is not ours.' },
  csrf_token_invalid: {
    status: 403,
    errors: 'Refused: the request does not belong to this sign-in. Reload the page and try again.',
  },
  role_denied: { status: 403, errors: 'Your role does not permit this. Ask an owner or an admin.' },
  fresh_sign_in_required: { status: 403, errors: 'Confirm that it is you: sign in again, then repeat this.' },
  agreement_not_accepted: {
    status: 403,
    errors: 'Developer API agreement not accepted: the owner of the company must accept the current version first.',
  },
  location_denied: { status: 403, errors: 'Access denied: this credential may not access this location.' },
  organization_denied: { status: 403, errors: 'Access denied: this credential may not access this organization.' },
  dataset_denied: { status: 403, errors: 'Access denied: the practice has not granted this dataset of this location.' },
  agreement_required: {
    status: 403,
    errors: 'Access denied: the account owner must accept the current developer API agreement first.',
  },
  agent_denied: { status: 403, errors: 'Access denied: this agent may not write here.' },
  route_unknown: { status: 404, errors: 'Resource not found: there is no such path.' },
  location_unknown: { status: 404, errors: 'Resource not found: there is no such location.' },
  company_unknown: { status: 404, errors: 'Resource not found: there is no such company.' },
  thing_unknown: { status: 404, errors: 'Resource not found: there is no such thing, or it is gone.' },
  invitation_unknown: {
    status: 404,
    errors: 'This link is not valid any more: it was used, replaced or is too old. Ask for a new one.',
  },
  organization_unknown: { status: 404, errors: 'Resource not found: there is no such organization.' },
  record_unknown: { status: 404, errors: 'Resource not found: there is no such record in this location.' },
  dataset_unknown: { status: 404, errors: 'Resource not found: there is no such dataset.' },
  preview_off: { status: 404, errors: 'Resource not found: this operation is not yet available in production.' },
  method_not_allowed: { status: 405, errors: 'This path does not answer that method.' },
  request_timeout: { status: 408, errors: 'The request took too long to arrive.' },
  idempotency_in_progress: {
    status: 409,
    errors: 'An upload with this Idempotency-Key is still being processed. Send it again shortly.',
  },
  removal_held: { status: 409, errors: 'So many records would be removed that a person must confirm it first.' },
  act_refused: { status: 409, errors: 'This cannot be done now.' },
  body_too_large: { status: 413, errors: 'The request body is too large.' },
  uri_too_long: { status: 414, errors: 'The request path is too long.' },
  content_type_unsupported: { status: 415, errors: 'Send the body as Content-Type: application/json.' },
  content_encoding_unsupported: {
    status: 415,
    errors: 'The body may be sent as it is or with Content-Encoding: gzip.',
  },
  parameter_invalid: { status: 422, errors: 'A parameter is not valid.' },
  credentials_malformed: { status: 422, errors: 'client_id and client_secret are required strings' },
  field_invalid: { status: 422, errors: 'A field of the body is not valid.' },
  record_invalid: { status: 422, errors: 'A line of the upload is not valid.' },
  idempotency_key_invalid: {
    status: 422,
    errors: 'Idempotency-Key must be "<agent id>-<number>" with this agent\'s id and a positive whole number.',
  },
  idempotency_key_reused: { status: 422, errors: 'Idempotency key reused with different content' },
  password_refused: { status: 422, errors: 'This password cannot be used. Choose another one.' },
  sign_in_throttled: { status: 429, errors: 'Too many tries. Wait a little, then try again.' },
  token_requests_exceeded: {
    status: 429,
    errors: 'Too many token requests from this address: at most 10 in any 60 seconds. Keep a token for its whole life.',
  },
  sync_slots_exceeded: { status: 429, errors: 'Too many locations are syncing concurrently.' },
  headers_too_large: { status: 431, errors: 'The request headers are too large.' },
  internal: { status: 500, errors: 'Internal error. Give the request id when you ask for help.' },
  unavailable: { status: 503, errors: 'The service is not available for a moment. Try again shortly.' },
  disclosure_unavailable: {
    status: 503,
    errors: 'The read could not be put on record, so nothing was sent. Try again shortly.',
  },
  busy: { status: 503, errors: 'Another upload of this dataset is still being stored. Try again shortly.' },
} as const satisfies Record<string, { status: number; errors: string }>

export type ProblemCode = keyof typeof problems

/** spec: Errors. The body of every error but the sync slots' 429, which carries exactly the specification's members. */
export type ErrorBody = { errors: string; code: ProblemCode; request_id: string }
