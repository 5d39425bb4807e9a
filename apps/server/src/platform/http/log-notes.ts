import type { LogEvent } from '../log/log-event.ts'

type Answered = Extract<LogEvent, { event: 'request.answered' }>

/**
 * What a request adds to its line in the log: who asked, for how much, and why it was refused. One object of one shape for each request, which
 * is changed in place: copies of it cost a small answer as much as reading its parameters.
 */
export class LogNotes {
  companyId: Answered['companyId'] = undefined
  keyPairId: Answered['keyPairId'] = undefined
  isUnproved: Answered['isUnproved'] = undefined
  locationId: Answered['locationId'] = undefined
  records: Answered['records'] = undefined
  agentId: Answered['agentId'] = undefined
  code: Answered['code'] = undefined
  because: Answered['because'] = undefined
  broken: Answered['broken'] = undefined
  /** How long it waited because its caller asked for that: no part of how long the service took. */
  waitedMs = 0
  /** The pattern of a known path that was asked with a method which it does not answer. */
  route: string | undefined = undefined
}
