import type { Action } from '@bridgework/contract/portal'

/** What a person does to their own account, or what is done to it. */
type AccountAct =
  | 'sign_up'
  | 'invitation_accept'
  | 'sign_in'
  | 'sign_out'
  | 'session_end'
  | 'update'
  | 'password_change'
  | 'password_reset'
  | 'two_factor_enable'
  | 'two_factor_disable'
  | 'recovery_code_use'
  | 'recovery_codes_renew'
  | 'identity_link'
  | 'passkey_add'
  | 'passkey_delete'

/** What only the operator's command line does. */
type CommandAct =
  | 'backup.create'
  | 'backup.restore'
  | 'company.erase'
  | 'database.migrate'
  | 'database.restore'
  | 'disclosure.account'
  | 'disclosure.drop_month'
  | 'organization.erase'
  | 'organization.export'
  | 'sandbox.populate'
  | 'secret_key.drop'
  | 'secret_key.rotate'
  | 'signing_key.rotate'
  | 'signing_key.withdraw'

/** Every act that a history can have. A table over it that misses one does not compile. */
export type AuditAction = Action | `account.${AccountAct}` | CommandAct
