import { inventedName } from '../names.ts'
import type { Practice } from '../practice.ts'
import type { Definition, Provider } from '../rows/people.ts'
import type { Location } from '../rows.ts'
import type { Desk } from './desk.ts'

const words: readonly (readonly [Definition['category'], readonly (readonly [string, string?])[]])[] = [
  [
    'adjustment_type',
    [
      ['Courtesy discount', '-'],
      ['Late fee', '+'],
      ['Returned check fee', '+'],
      ['Small balance', '-'],
    ],
  ],
  ['confirmation', [['Not called'], ['Unconfirmed'], ['Confirmed by text'], ['Confirmed by phone']]],
  ['billing_type', [['Standard account'], ['Payment plan'], ['Collection'], ['Family of staff']]],
  [
    'payment_type',
    [['Cash'], ['Check'], ['Credit card'], ['Bank transfer ACH'], ['Finance company'], ['Gift voucher']],
  ],
  ['priority', [['1'], ['2'], ['Next year'], ['Declined']]],
  ['unearned_type', [['Prepayment'], ['Prepayment of planned care', 'X']]],
  ['specialty', [['General'], ['Orthodontist'], ['Oral surgeon'], ['Endodontist']]],
]

const visitTypes = ['Cleaning and check', 'New patient', 'Treatment', 'Emergency', 'Consultation']

/** The practice's own words, the people who work in it and their rooms. */
export function addStaff(desk: Desk, patientsOf: (location: Location | null) => number): void {
  const { practice } = desk
  for (const [category, entries] of words) {
    for (const [name, value = ''] of entries) desk.add('definitions', { category, name, value })
  }
  for (const name of visitTypes) desk.add('appointmentTypes', { name })
  const locations = practice.locations.size > 0 ? [...practice.locations.values()] : [null]
  for (const [index, location] of locations.entries()) {
    const patients = patientsOf(location)
    for (let n = 0; n < Math.max(1, Math.ceil(patients / 350)); n++) addProvider(desk, location, false, n, index)
    for (let n = 0; n < Math.max(1, Math.ceil(patients / 400)); n++) addProvider(desk, location, true, n, index)
  }
}

/** One of the practice's words: by its name, or any of the category. */
export function wordOf(desk: Desk, category: Definition['category'], name?: string): Definition {
  const all = [...desk.practice.definitions.values()].filter((word) => word.category === category)
  const found = name === undefined ? desk.random.pick(all) : all.find((word) => word.name === name)
  if (found === undefined) throw new Error(`the practice has no word ${name} for ${category}`)
  return found
}

export function typeOf(practice: Practice, index: number): string {
  const key = [...practice.appointmentTypes.keys()][index]
  if (key === undefined) throw new Error('the practice has no types of appointments')
  return key
}

/** Who works there. */
export function providersAt(practice: Practice, locationKey: string | null, isHygienist: boolean): Provider[] {
  const all = [...practice.providers.values()].filter((provider) => provider.isHygienist === isHygienist)
  const here = all.filter((provider) => provider.locationKey === locationKey)
  return here.length > 0 ? here : all
}

function addProvider(desk: Desk, location: Location | null, isHygienist: boolean, n: number, index: number): void {
  const { practice, random } = desk
  const count = [...practice.providers.values()].filter((each) => each.isHygienist === isHygienist).length + 1
  const isEarly = random.chance(0.3)
  const provider = desk.add('providers', {
    abbreviation: `${isHygienist ? 'HYG' : 'DR'}${count}`,
    // One has no name, as where only the abbreviation was ever typed in.
    firstName: index === 0 && n > 0 ? '' : inventedName(random),
    lastName: index === 0 && n > 0 ? '' : inventedName(random),
    isHygienist,
    locationKey: location?.key ?? null,
    weekdays: random.chance(0.3) ? [1, 2, 3, 4] : [1, 2, 3, 4, 5],
    fromMinute: isEarly ? 7 * 60 : 8 * 60,
    toMinute: isEarly ? 16 * 60 : 17 * 60,
  })
  desk.add('operatories', {
    locationKey: location?.key ?? null,
    providerKey: provider.key,
    name: `${isHygienist ? 'Hyg' : 'Op'} ${n + 1}`,
  })
}
