import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { someFolder } from './testing/test-folder.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** A folder with the files of an example and its finished mapping, read once. `questions`: what `check` asks. */
async function exampleOf(t: TestContext, name: string) {
  const folder = join(examples, name)
  const world = await someFolder(t, readFileSync(join(folder, 'mapping.toml'), 'utf8'))
  for (const file of readdirSync(folder))
    if (file !== 'mapping.toml') world.write(file, readFileSync(join(folder, file)))
  assert.equal(await world.run(), 'complete', JSON.stringify(world.events))
  const { findings } = await world.connector().check()
  const said = (outcome: string) => findings.filter((each) => each.outcome === outcome).map(({ what }) => what)
  const records = (dataset: Parameters<typeof world.visible>[1], ...attributes: string[]) =>
    [...world.visible('main', dataset)].map(([key, each]) => [key, ...attributes.map((attribute) => each[attribute])])
  return { records, good: said('good'), questions: [...said('advice'), ...said('wrong')] }
}

const balance = (total: string) => ({ total, insurance_estimate: null, as_of: null })

test('the example reports: titles, totals, dated names, full names and lengths in units', async (t) => {
  const { records, questions } = await exampleOf(t, 'reports')
  assert.deepEqual(records('patients', 'first_name', 'last_name', 'date_of_birth', 'gender', 'status', 'balance'), [
    ['1001', 'Ada', 'Quill', '1980-03-04', 'female', 'active', balance('1095.00')],
    ['1002', 'Ben', 'Rook', null, 'male', 'inactive', balance('-36.50')],
    ['1003', 'Cal', 'Stone', '1999-12-31', 'unknown', 'active', balance('0.00')],
  ])
  assert.deepEqual(records('appointments', 'starts_at', 'local_starts_at', 'duration_minutes', 'status'), [
    ['501', '2026-11-30T15:30:00.000Z', '2026-11-30T09:30:00', 40, 'confirmed'],
    ['502', '2026-12-13T19:10:00.000Z', '2026-12-13T13:10:00', 60, 'scheduled'],
    ['503', '2026-11-02T14:00:00.000Z', '2026-11-02T08:00:00', 30, 'completed'],
  ])
  assert.deepEqual(questions, [], 'an older export is no file that the mapping forgot')
})

test('the example semicolons: a code page, a decimal comma, debit and credit', async (t) => {
  const { records, good, questions } = await exampleOf(t, 'semicolons')
  assert.deepEqual(
    records('patients', 'first_name', 'last_name', 'date_of_birth', 'gender', 'address_line_1', 'balance'),
    [
      ['1001', 'Renée', 'Müller', '1980-03-04', 'female', 'Hauptstraße 1', balance('1095.00')],
      ['1002', 'Björn', 'Groß', null, 'male', null, balance('-36.50')],
      ['1003', 'Kim', 'Öztürk', '1999-12-31', 'other', null, balance('0.00')],
    ],
  )
  assert.deepEqual(records('appointments', 'starts_at', 'duration_minutes', 'status'), [
    ['501', '2026-11-30T08:30:00.000Z', 40, 'confirmed'],
    ['502', '2026-12-13T12:10:00.000Z', 60, 'scheduled'],
    ['503', '2026-11-02T07:00:00.000Z', 30, 'completed'],
  ])
  assert.deepEqual(records('ledger_transactions', 'transaction_type', 'amount', 'transaction_on'), [
    ['1', 'charge', '1131.50', '2026-11-02'],
    ['2', 'patient_payment', '-36.50', '2026-11-03'],
    ['3', 'adjustment', '-36.50', '2026-11-03'],
  ])
  assert.deepEqual(questions, [])
  assert.ok(good.includes('The ledger adds up to the balance of 2 of 2 accounts.'))
})

test('the example tabs: cents, words for nothing, a list of codes and a ledger of three files', async (t) => {
  const { records, good, questions } = await exampleOf(t, 'tabs')
  assert.deepEqual(records('patients', 'last_name', 'date_of_birth', 'status', 'primary_provider_name', 'balance'), [
    ['000123', 'Quill', '1980-03-04', 'active', 'Dr. Sample', balance('1095.00')],
    ['000124', 'Rook', null, 'inactive', 'Hygienist Sample', null],
    ['000125', 'Stone', '1999-12-31', 'active', null, balance('0.00')],
  ])
  assert.deepEqual(records('ledger_transactions', 'transaction_type', 'amount', 'provider_name', 'payment_method'), [
    ['C-1', 'charge', '1131.50', 'Dr. Sample', null],
    ['C-2', 'charge', '90.00', 'Hygienist Sample', null],
    ['P-1', 'patient_payment', '-36.50', null, 'card'],
    ['P-2', 'patient_payment', '-80.00', null, 'check'],
    ['A-1', 'adjustment', '-10.00', null, null],
  ])
  assert.deepEqual(questions, [])
  assert.ok(good.includes('The ledger adds up to the balance of 2 of 2 accounts.'))
})
