import { type MemberRole, mayDo, type NoticeKind, noticeKindsOf, type Side } from '@bridgework/contract/portal'
import { actRules } from './act-rules.ts'
import { conditionRules } from './condition-rules.ts'

/** The kinds that a member in this role can be notified of, in the order of the settings. */
export function kindsReceived(side: Side, role: MemberRole): NoticeKind[] {
  const ofActs = Object.values(actRules).flatMap((rules) => rules?.[side] ?? [])
  const rules = [...ofActs, ...Object.values(conditionRules)]
  return noticeKindsOf(side).filter((kind) =>
    rules.some((rule) => rule.kind === kind && (mayDo(role, rule.to, side) || 'isAboutMember' in rule)),
  )
}
