import { Readable } from 'node:stream'
import type { PortalRouteName } from '@bridgework/contract/portal'
import type { Call } from './context.ts'

/**
 * Answers a route with a file of CSV that is sent while it is made. Fastify waits for a stream that was given to `send`, and takes this for what
 * the route answers.
 */
export function sendCsv(
  call: Pick<Call<PortalRouteName>, 'reply'>,
  name: string,
  parts: AsyncGenerator<string>,
): string {
  call.reply.headers({
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  })
  return call.reply.send(Readable.from(parts)) as unknown as string
}
