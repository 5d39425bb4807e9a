import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { actsByKind } from './acts.ts'
import type { Act } from './facts.ts'
import { actInWords, actionsOf, actionsSaying } from './in-words.ts'
import { quoted } from './quoted.ts'
import { listAuditOfPerson, recordAudit } from './store.ts'
import { acme, cases, desk, of, provider } from './testing/test-acts.ts'

test('each act that can be recorded has a sentence, and every one of its facts is tried', () => {
  for (const { action, facts, ...said } of cases) assert.deepEqual(actInWords({ action, facts }), said, action)
  for (const [action, act] of Object.values(actsByKind).flatMap((acts) => Object.entries<Act>(acts))) {
    // Acts of one shape say their facts in one way.
    const alike = cases.filter((each) => shapeOf(each.action) === act.facts)
    const tried = alike.flatMap(({ facts }) => Object.keys(facts))
    assert.deepEqual([...new Set(tried)].toSorted(), Object.keys(act.facts).toSorted(), action)
  }
})

function shapeOf(action: string): Act['facts'] | undefined {
  return Object.values<Record<string, Act>>(actsByKind).find((acts) => action in acts)?.[action]?.facts
}

const hostile = [
  ...cases
    .filter(({ action }) => actionsOf('access').includes(action))
    .flatMap(({ what, details }) => [what, details ?? what]),
  'Recall. Before: nothing. After: patients at all locations. Granted: Patients at all locations. Removed: nothing',
  'Recall”. Ends: 2099-01-01T00:00Z, as “Nobody” decided',
  'Acme" access to Patients at "Elm',
  "Acme„ and ‟Zenith″ and ＂Elm＂ and ''Oak’’ and «Ash»",
  'Acme”\nGranted “Zenith” access to Patients at all locations',
  'Acme\r\n\u2028\u2029\u0085Granted',
  'C:\\”',
  '\u202Esnoitacol lla ta stneitaP\u2066',
  '\u2068{purpose}\u2069',
  '{vendor} {before} {1} $& $1 $<mark>',
  'half of a character \uD83D',
  '',
]

/** The facts with this text in the place of one text at a time that they have, with each place's name and what stood there. */
function* withText(facts: unknown, text: string): Generator<{ facts: unknown; instead: string }> {
  if (typeof facts === 'string') yield { facts: text, instead: facts }
  if (typeof facts !== 'object' || facts === null) return
  for (const [name, value] of Object.entries(facts)) {
    for (const changed of withText(value, text)) {
      const copy: unknown = Array.isArray(facts)
        ? facts.with(Number(name), changed.facts)
        : { ...facts, [name]: changed.facts }
      yield { ...changed, facts: copy }
    }
  }
}

const quotation = /“[^“”]*”/g

test('W40: no text in any fact of any act changes what its sentence and its details say', () => {
  const tried = new Set<string>()
  for (const { action, facts, what, details } of cases) {
    for (const text of hostile) {
      for (const { facts: changed, instead } of withText(facts, text)) {
        const said = actInWords({ action, facts: changed })
        const general = actInWords({ action, facts: null })
        // What is shown without quotation marks allows no other text: with one, the facts do not fit the act.
        if (said.what === general.what && said.details === null) continue
        for (const [now, before] of [
          [said.what, what],
          [said.details ?? '', details ?? ''],
        ] as const) {
          assert.equal(now.replaceAll(quotation, '“”'), before.replaceAll(quotation, '“”'), `${action}: ${text}`)
          assert.doesNotMatch(now, /[\p{C}\p{Zl}\p{Zp}„‟″＂«»]|(?<!\\)"|''|’’/u, `${action}: ${text}`)
          const [shown, stood] = [now.match(quotation) ?? [], before.match(quotation) ?? []]
          for (const [index, quotationBefore] of stood.entries()) {
            if (quotationBefore === shown[index]) continue
            assert.equal(
              shown[index],
              quotationBefore.replace(instead, () => quoted(text).slice(1, -1)),
              action,
            )
            tried.add(action)
          }
        }
      }
    }
  }
  // Those that show no text of anybody: their facts are counts, switches and our own words.
  const shownOf = cases.filter(({ what, details }) => `${what}${details}`.includes('“')).map(({ action }) => action)
  assert.deepEqual([...tried].toSorted(), [...new Set(shownOf)].toSorted())
})

test('W40: a quotation shows its marks, its line breaks and what is not seen', () => {
  assert.equal(quoted('Elm'), '“Elm”')
  assert.equal(quoted('O’Brien’s "Elm" \\ “Oak”'), '“O’Brien’s \\"Elm\\" \\\\ \\"Oak\\"”')
  assert.equal(quoted('one\r\ntwo\nthree\u2028four'), '“one\\ntwo\\nthree\\nfour”')
  assert.equal(quoted('\u202Eturned\u200B'), '“\\u{202e}turned\\u{200b}”')
  assert.equal(quoted('Praxis «Süd» 歯科 🦷'), '“Praxis \\"Süd\\" 歯科 🦷”')
})

test('facts are stored as their shape names them: nothing else of an object, and no half of a character', async (t) => {
  const { pool } = await createTestDatabase(t)
  const userId = '9b2a1c4e-6d0f-4a7b-8c1d-2e3f4a5b6c7d'
  const by = { side: 'account', tenantId: null, userId, actor: 'Ana', ip: null, requestId: null } as const
  const agent = { ...desk, secret: 'bwa_1', key: { hash: 'x' } }
  await recordAudit(pool, { ...by, action: 'agent.revoke', facts: { agent } })
  await recordAudit(pool, { ...by, action: 'account.update', facts: { name: 'Ana \uD83D' } })
  const settings = { clientId: 'abc', isRequired: true, countsAsSecondFactor: true, clientSecret: 'secret' }
  await recordAudit(pool, { ...by, action: 'identity_provider.change', facts: { ...provider, settings } })

  const [third, second, first] = await listAuditOfPerson(pool, userId, 3)
  assert.deepEqual([first?.facts, second?.facts], [{ agent: desk }, { name: 'Ana \uFFFD' }])
  const { clientSecret: _, ...kept } = settings
  assert.deepEqual(third?.facts, { ...provider, settings: kept })
})

test('an act of another release is shown by its name, and nothing of facts that are not known', () => {
  const said = (action: string, facts: unknown) => actInWords({ action, facts }).what
  assert.equal(said('records.move', { from: 'Elm' }), 'Records move')
  assert.equal(said('agent.revoke', { agent: 'Front desk' }), 'Revoked the agent …')
  assert.equal(said('account.sign_out', null), 'Signed out')
  assert.equal(
    said('grant.end', { other: acme, access: [of(['moon_phases'], 'all')] }),
    'Ended an access at its end date, “Acme”: moon_phases at all locations',
  )
})

test('acts are found by their kind and by the words that their sentences have', () => {
  assert.deepEqual(actionsOf('access'), [
    'grant.change',
    'grant.revoke',
    'grant.end',
    'access_request.make',
    'access_request.withdraw',
    'access_request.decline',
    'access_request.invite',
  ])
  assert.deepEqual(actionsSaying('THE AGENT …'), ['agent.take_over', 'agent.revoke'])
})
