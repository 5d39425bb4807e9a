import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invitationMail, secondFactorMail, sessionsEndedMail, signUpMail } from './sign-in-mail.ts'

const to = { email: 'ada@example.com', name: 'Ada' }
const hostile = 'Smile” on Bridgework.\nYour account is locked: call “us'
const shown = '“Smile\\" on Bridgework.\\nYour account is locked: call \\"us”'

test('W40: a mail says what happened, whatever a company, a practice or the person who caused it is called', () => {
  const names = { tenantName: hostile, by: hostile, invitedBy: hostile }
  for (const mail of [
    signUpMail('https://b.example', to, hostile, 'token'),
    sessionsEndedMail('https://b.example', to, { ...names, ended: 1 }),
    secondFactorMail('https://b.example', to, hostile),
    invitationMail('https://b.example/invitation#bwi', to, { ...names, isSecondFactorRequired: false }),
  ]) {
    assert.ok(mail.text.includes(shown), mail.text)
    const rest = `${mail.subject} ${mail.text}`.replaceAll(shown, '')
    assert.doesNotMatch(rest, /locked|[“”]/)
  }
})
