import { agent } from './agent.ts'
import { agentRelease } from './agent-release.ts'
import { agreement } from './agreement.ts'
import { audit } from './audit.ts'
import type { CommandGroup } from './command-line.ts'
import { company } from './company.ts'
import { credential } from './credential.ts'
import { database } from './database.ts'
import { disclosure } from './disclosure.ts'
import { grant } from './grant.ts'
import { location } from './location.ts'
import { member } from './member.ts'
import { operator } from './operator.ts'
import { organization } from './organization.ts'
import { person } from './person.ts'
import { removal } from './removal.ts'
import { sandbox } from './sandbox.ts'
import { secretKey } from './secret-key.ts'
import { signingKey } from './signing-key.ts'

/** Everything that an operator can do, in the order in which a new installation needs it. */
export const commands: Readonly<Record<string, CommandGroup>> = {
  operator,
  organization,
  agent,
  'agent-release': agentRelease,
  location,
  company,
  member,
  person,
  agreement,
  credential,
  grant,
  removal,
  disclosure,
  audit,
  'signing-key': signingKey,
  'secret-key': secretKey,
  database,
  sandbox,
}
