import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itStepsText, mailtoOf } from './it-steps.ts'

const practice = { practice: 'Smile & Co?body=x', organizationId: '42', origin: 'https://portal.example' }

test('steps for the IT person are numbered sentences with the addresses that are needed', () => {
  const steps = [
    { title: 'Enroll an agent', text: 'It reads your system.' },
    { title: 'The table claimproc is damaged.', text: 'Repair it.' },
  ]
  assert.equal(
    itStepsText(steps, practice),
    [
      'Please do this for the practice “Smile & Co?body=x”, whose data Bridgework reads:',
      '1. Enroll an agent. It reads your system.',
      '2. The table claimproc is damaged. Repair it.',
      'Agents and what they report: https://portal.example/organization/42/agents',
      'How an agent is installed: https://portal.example/guides/install-the-agent',
    ].join('\n\n'),
  )
})

test('whatever a name contains, the mail has the subject and the text that were meant', () => {
  const text = itStepsText([{ title: 'A', text: 'B' }], practice)
  const address = new URL(mailtoOf('Steps & more', text))
  assert.deepEqual([...address.searchParams.keys()], ['subject', 'body'])
  assert.equal(address.searchParams.get('subject'), 'Steps & more')
  assert.equal(address.searchParams.get('body'), text.replaceAll('\n', '\r\n'))
})
