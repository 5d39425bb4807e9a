import { PassThrough } from 'node:stream'
import {
  actions,
  type LiveEvent,
  type LiveTopic,
  livePath,
  liveTopics,
  mayDo,
  portalRoutes,
  routesAbout,
} from '@bridgework/contract/portal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionLifetimeMs } from '../../../modules/sign-in/auth.ts'
import { authenticatePerson } from '../../../modules/sign-in/person.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { rawQuery } from '../../../platform/http/server.ts'
import type { PortalContext } from '../shared/context.ts'
import { type Membership, requireMembership, tenantOf } from '../shared/membership.ts'
import { readQuery } from '../shared/query.ts'
import { webHeaders } from '../sign-in/sign-in-routes.ts'

/** What a reader may leave unread before it is dropped, beside what the system's buffers hold: some hundred events. */
const unreadBytesMax = 8 * 1024

/**
 * Server-sent events with the names of what changed (`LiveEvent`), for one open page. Session and membership are checked as for a request; the stream
 * is no use of the session, so it ends when the person does nothing.
 */
export function registerLive(app: FastifyInstance, context: PortalContext): void {
  app.get(livePath, async (request, reply) => {
    const { tenant_id = '' } = readQuery(['tenant_id'], rawQuery(request))
    const headers = webHeaders(request)
    headers.set('x-background', 'true')
    const { person } = await authenticatePerson(context.auth, headers, context.now())
    if (!person) throw new Problem('sign_in_required')
    const wanted = { action: 'notice.read', isAct: false, params: { tenant_id } } as const
    const member = tenant_id === '' ? null : await requireMembership(context.pool, person, wanted, context.now())
    // The page may have left while its session was looked up: nothing would end its stream.
    if (request.raw.socket.destroyed) return await reply.code(204).send()
    const stream = new PassThrough({ highWaterMark: unreadBytesMax })
    const write = (text: string) => {
      if (!stream.write(text)) stream.destroy()
    }
    const leave = context.live.watch({
      sessionId: person.sessionId,
      userId: person.userId,
      endsAt: new Date(person.signedInAt.getTime() + sessionLifetimeMs),
      tenant: member && tenantOf(member),
      topics: topicsFor(member),
      tell: (topics) =>
        write(topics.length === 0 ? ':\n\n' : `data: ${JSON.stringify({ topics } satisfies LiveEvent)}\n\n`),
      end: () => stream.end(),
    })
    stream.once('close', leave)
    noteWait(request, reply)
    write(':\n\n')
    return await reply.type('text/event-stream').header('X-Accel-Buffering', 'no').send(stream)
  })
}

/** What a person may hear of: what they may read. */
function topicsFor(member: Membership | null): Set<LiveTopic> {
  const mayHear = (topic: LiveTopic) =>
    routesAbout(topic).some((name) => {
      const { action } = portalRoutes[name]
      if (action === 'anyone' || action === 'signed_in') return true
      const { side } = actions[action]
      return member !== null && (side ?? member.side) === member.side && mayDo(member.role, action, member.side)
    })
  return new Set(liveTopics.filter(mayHear))
}

/** How long a page listens is no part of how long the service took. */
function noteWait(request: FastifyRequest, reply: FastifyReply): void {
  const beganMs = performance.now()
  for (const event of ['finish', 'close']) {
    reply.raw.prependOnceListener(event, () => {
      request.logNotes.waitedMs = performance.now() - beganMs
    })
  }
}
