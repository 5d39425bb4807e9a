import type { FastifyInstance } from 'fastify'
import { Problem } from '../../errors/problem.ts'
import { isWithin } from './json-bounds.ts'
import { hasNul } from './nul.ts'
import { refuseRepeatedMembers } from './repeated-member.ts'

/**
 * Makes `application/json` the only body that routes receive. Refused are: bytes that are not UTF-8, an empty body, too many members or levels
 * (before anything is built of them), U+0000 in any text, and a member that an object has twice. `__proto__` and `constructor.prototype` are dropped before anyone could copy them.
 * Any other content type is refused before a byte of it is parsed.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const charset = /;\s*charset\s*=\s*"?([^;"\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
    if (charset !== undefined && charset.toLowerCase() !== 'utf-8') return done(new Problem('content_type_unsupported'))
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      return done(
        new Problem('content_encoding_unsupported', { errors: 'Send the body as it is, without Content-Encoding.' }),
      )
    }
    if (!isWithin(body as Buffer, bounds)) return done(new Problem('field_invalid', { errors: boundsErrors }))
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer)
    } catch {
      return done(new Problem('body_malformed'))
    }
    parseJson(request, text, (error, value) => {
      if (error) return done(error)
      if (hasNul(text)) return done(new Problem('field_invalid', { errors: nulErrors }))
      try {
        refuseRepeatedMembers(text)
      } catch (problem) {
        return done(problem as Error)
      }
      done(null, value)
    })
  })
}

/** The widest body is the access of a company to 5,000 locations: 60,000 members, three levels. */
const bounds = { depthMax: 32, membersMax: 100_000 }

export const boundsErrors = 'The body has too many members or levels.'
const nulErrors = 'A text of the body contains the character U+0000. Leave it out.'
