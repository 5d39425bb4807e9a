import { type ProblemCode, problems } from '@bridgework/contract'
import type { TSchema } from 'typebox'

/** Refusals whose body is not the usual one. */
const bodies: Partial<Record<ProblemCode, string>> = {
  sync_slots_exceeded: 'SyncSlotsExceeded',
  token_requests_exceeded: 'TokenRequestsExceeded',
  requests_exceeded: 'RequestsExceeded',
}

/** The success and every refusal of an operation. `x-problems` lists the codes for vendors' programs; examples.ts adds an example of each. */
export function answers(success: TSchema | { description: string; content: object }, codes: readonly ProblemCode[]) {
  const byStatus = Object.groupBy(codes, (code) => problems[code].status)
  const refusals = Object.entries(byStatus).map(([status, ofStatus]) => [
    status,
    {
      description: ofStatus.map((code) => problems[code].errors).join(' '),
      ...oneOrAny([...new Set(ofStatus.map((code) => bodies[code] ?? 'Error'))]),
    },
  ])
  return { 'x-problems': codes, response: { 200: success, ...Object.fromEntries(refusals) } }
}

function oneOrAny([first, ...others]: readonly string[]) {
  const refs = [first, ...others].map((name) => ({ $ref: `${name}#` }))
  return others.length === 0 ? refs[0] : { anyOf: refs }
}
