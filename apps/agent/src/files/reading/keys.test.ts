import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneDataset, someFolder } from '../testing/test-folder.ts'
import { joinedKey } from './joined-key.ts'

test('keys joined of several columns never collide, and a key of one column is its text', async (t) => {
  assert.deepEqual(
    [['1', '2-3'], ['1-2', '3'], ['1', '502'], ['a~', 'b'], ['a', '~b'], ['a~-b'], ['~']].map(joinedKey),
    ['1-2~-3', '1~-2-3', '1-502', 'a~~-b', 'a-~~b', 'a~-b', '~'],
  )
  const texts = ['', '-', '~', '--', '-~', '~-', '~~', 'a', 'a-', '~a']
  const pairs = texts.flatMap((one) => texts.map((other) => [one, other]))
  assert.equal(new Set(pairs.map(joinedKey)).size, pairs.length)

  const world = await someFolder(
    t,
    oneDataset('insurance_plans', { file: 'plans.csv', key: ['Office', 'No'], attributes: { plan_name: 'Name' } }),
  )
  world.write('plans.csv', 'Office,No,Name\n1,2-3,One\n1-2,3,Two\n')
  assert.equal(await world.run(), 'complete')
  assert.deepEqual(
    [...world.visible('main', 'insurance_plans')].map(([key, { plan_name }]) => [key, plan_name]),
    [
      ['1-2~-3', 'One'],
      ['1~-2-3', 'Two'],
    ],
  )
})

test('files-instant-as-date: an instant in a date column is the day at the location', async (t) => {
  const world = await someFolder(t, {
    locations: { main: { name: 'Main', time_zone: 'Australia/Sydney', country: 'AU' } },
    datasets: {
      patients: {
        file: 'patients.csv',
        key: 'Id',
        attributes: { status: { constant: 'active' }, date_of_birth: 'DOB' },
      },
    },
  })
  world.write('patients.csv', 'Id,DOB\n1,1980-03-04T14:00:00Z\n2,1980-03-04T13:00:00.000Z\n')
  assert.equal(await world.run(), 'complete')
  const born = world
    .visible('main', 'patients')
    .values()
    .map((patient) => patient.date_of_birth)
  assert.deepEqual([...born], ['1980-03-05', '1980-03-05'])
})
