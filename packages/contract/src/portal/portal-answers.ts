import type { AccountAnswers } from './account.ts'
import type { CompanyAnswers } from './company.ts'
import type { MemberAnswers } from './member.ts'
import type { OperatorAnswers } from './operator.ts'
import type { OrganizationAnswers } from './organization.ts'
import type { PortalRouteName } from './route.ts'
import type { SandboxAnswers } from './sandbox-route.ts'
import type { WebhookAnswers } from './webhook.ts'

type Answers = AccountAnswers &
  MemberAnswers &
  CompanyAnswers &
  WebhookAnswers &
  SandboxAnswers &
  OrganizationAnswers &
  OperatorAnswers

/** What each route answers with 200 (201 where it makes something). A route that is missing here does not compile. */
export type PortalAnswers = { [name in PortalRouteName]: Answers[name] }
