import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const inputs =
  /<(?:Autocomplete|Checkbox|Chip|FileInput|FileButton|MultiSelect|NativeSelect|NumberInput|PasswordInput|PinInput|Radio|Select|Slider|Switch|TagsInput|Textarea|TextInput)\b/

const signedOut = 'is used without a session, so none can end'
const secret = 'a password or a code is never kept'
const address = 'is kept in the address'
const patient = 'what names a patient is never kept'
const part = 'is a part of forms that keep theirs'
const anew = 'what is decided here is looked at anew each time'

/** Files with inputs that keep no draft, and why. */
const without: Record<string, string> = {
  'pages/account/PasswordChange.tsx': secret,
  'pages/account/RecoveryCodes.tsx': secret,
  'pages/account/TwoFactor.tsx': secret,
  'pages/company/AgreementPage.tsx': anew,
  'pages/company/LogoField.tsx': 'is saved when it is chosen',
  'pages/company/logs/RequestFilters.tsx': address,
  'pages/company/keys/SecretDialog.tsx': secret,
  'pages/company/webhooks/TypesField.tsx': part,
  'pages/company/webhooks/WebhookSecret.tsx': secret,
  'pages/company/sandbox/RequestFault.tsx': 'has a choice and numbers alone',
  'pages/company/sandbox/SandboxAct.tsx': 'has a number alone',
  'pages/history/HistoryFilters.tsx': address,
  'pages/notices/NoticeSettings.tsx': 'is saved when it is chosen',
  'pages/operator/tenants/CompaniesPage.tsx': address,
  'pages/organization/access/AccessTerms.tsx': part,
  'pages/organization/removals/DecideRemovals.tsx': anew,
  'pages/organization/disclosures/DisclosureFilters.tsx': address,
  'pages/organization/access/GrantRequest.tsx': anew,
  'pages/organization/locations/LocationAgent.tsx': anew,
  'pages/organization/disclosures/PatientAccounting.tsx': patient,
  'pages/organization/disclosures/PatientSearch.tsx': patient,
  'pages/organization/removals/RemovalsPage.tsx': anew,
  'pages/organization/disclosures/SealSection.tsx': 'is saved when it is switched',
  'pages/reference/ReferencePage.tsx': signedOut,
  'pages/reference/TryRequest.tsx': signedOut,
  'pages/sign-in/ForgotPasswordPage.tsx': signedOut,
  'pages/sign-in/InvitationPage.tsx': signedOut,
  'pages/sign-in/NewPasswordInput.tsx': secret,
  'pages/sign-in/ProviderSignIn.tsx': signedOut,
  'pages/sign-in/SecondFactor.tsx': secret,
  'pages/sign-in/SignInForm.tsx': signedOut,
  'pages/sign-in/SignUpPage.tsx': signedOut,
  'shell/search/SearchDialog.tsx': anew,
  'ui/filters/DayField.tsx': address,
  'ui/ReasonInput.tsx': part,
  'ui/filters/SearchField.tsx': address,
  'ui/TimeZoneSelect.tsx': part,
}

test('every form keeps what was typed beyond the end of a session, or a reason is given; a secret is never kept', () => {
  const root = join(import.meta.dirname, '../..')
  const withInputs = globSync('**/*.tsx', { cwd: root }).filter((file) =>
    inputs.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.ok(withInputs.length > 30, 'the forms are found')
  for (const file of withInputs) {
    const text = readFileSync(join(root, file), 'utf8')
    const keeps = /\buseDraft(?:Form)?[<(]/.test(text)
    assert.notEqual(keeps, file in without, `${file}: use useDraft or useDraftForm, or add it here with a reason`)
    if (keeps && /<(?:PasswordInput|PinInput)\b/.test(text)) assert.match(text, /\bsecrets: \[/, file)
  }
  assert.deepEqual(
    Object.keys(without).filter((file) => !withInputs.includes(file)),
    [],
    'these have no input',
  )
})
