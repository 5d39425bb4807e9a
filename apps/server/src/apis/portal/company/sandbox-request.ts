import { vendorApiPath } from '@bridgework/contract'
import type { FirstCall } from '@bridgework/contract/portal'
import { listKeyPairs } from '../../../modules/credentials/key-pair.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'

type Name = 'makeFirstCall' | 'sendAgain'

/** Requests that the sandbox sends for a company, with its own key pair. */
export const sandboxRequestHandlers: PortalHandlers<Name> = {
  makeFirstCall: (context, call) => send(context, call, call.body.path),

  sendAgain: (context, call) => {
    const { route, location_id: locationId } = call.body
    const needsLocation = route.includes(':location_id')
    if (needsLocation !== (locationId !== null)) {
      throw new Problem('field_invalid', {
        errors: `location_id must be ${needsLocation ? 'the location of the request' : 'null for this route'}.`,
      })
    }
    return send(context, call, route.replace(':location_id', locationId ?? ''))
  },
}

async function send(
  { pool, tokens, environment, publicUrl }: PortalContext,
  { member, request, ip }: Call<Name>,
  path: string,
): Promise<FirstCall> {
  if (environment !== 'sandbox') throw new Problem('route_unknown')
  const pair = (await listKeyPairs(pool, member.companyId)).find((each) => each.state.state === 'live')
  if (!pair) throw new Problem('key_pair_required')
  const token = await tokens.issue(member.companyId, pair.id)
  const begin = performance.now()
  // Through the app itself, so that it is checked, counted and answered as every other call.
  const answer = await request.server.inject({
    method: 'GET',
    url: `${vendorApiPath}${path}`,
    headers: { authorization: `Bearer ${token}` },
    remoteAddress: ip,
  })
  return {
    method: 'GET',
    url: `${publicUrl}${vendorApiPath}${path}`,
    status: answer.statusCode,
    duration_ms: Math.round((performance.now() - begin) * 10) / 10,
    body: answer.payload.slice(0, bodyLengthMax),
  }
}

const bodyLengthMax = 20_000
