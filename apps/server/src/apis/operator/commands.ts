import type { CommandGroup } from './command-line.ts'
import { audit } from './disclosure/audit.ts'
import { disclosure } from './disclosure/disclosure.ts'
import { agentRelease } from './installation/agent-release.ts'
import { agreement } from './installation/agreement.ts'
import { database } from './installation/database.ts'
import { sandbox } from './installation/sandbox.ts'
import { secretKey } from './installation/secret-key.ts'
import { signingKey } from './installation/signing-key.ts'
import { operator } from './operator.ts'
import { agent } from './tenant/agent.ts'
import { company } from './tenant/company.ts'
import { credential } from './tenant/credential.ts'
import { grant } from './tenant/grant.ts'
import { location } from './tenant/location.ts'
import { member } from './tenant/member.ts'
import { organization } from './tenant/organization.ts'
import { person } from './tenant/person.ts'
import { removal } from './tenant/removal.ts'

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
