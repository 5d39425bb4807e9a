import type { Random } from './random.ts'

const firstSyllables = [
  'Bram',
  'Tavel',
  'Quor',
  'Lund',
  'Oske',
  'Fenn',
  'Marl',
  'Pell',
  'Hask',
  'Vint',
  'Corr',
  'Dray',
  'Elm',
  'Gorse',
  'Wend',
]
const lastSyllables = [
  'ibeck',
  'owen',
  'rathe',
  'ismere',
  'unfell',
  'eshaw',
  'adine',
  'orley',
  'umbria',
  'elhurst',
  'istock',
  'avern',
]
const carrierKinds = [
  'Dental Plan',
  'Dental Mutual',
  'Benefit Trust',
  'Smile Assurance',
  'Dental Fund',
  'Health Cooperative',
]
const trades = [
  'Tool Works',
  'Bakery',
  'School District',
  'Freight',
  'Paper Mill',
  'Orchards',
  'Glassworks',
  'Brewing',
  'Ferries',
  'Software',
  'Hospital',
  'Textiles',
]
const streets = ['Alder', 'Birch', 'Harbor', 'Mill', 'Orchard', 'Quarry', 'Station', 'Willow']
const directions = ['North', 'South', 'East', 'West', 'Riverside', 'Hillside']

/** A word that sounds like a name and is none that we know of. */
export function inventedName(random: Random): string {
  return random.pick(firstSyllables) + random.pick(lastSyllables)
}

export function carrierName(random: Random): string {
  return `${inventedName(random)} ${random.pick(carrierKinds)}`
}

export function employerName(random: Random): string {
  return `${inventedName(random)} ${random.pick(trades)}`
}

/** Five digits below 00500: no such postal code is in use. */
export function postalCode(random: Random): string {
  return String(random.whole(100, 499)).padStart(5, '0')
}

/** A number of the range 555-0100 … 555-0199, which is kept for fiction. */
export function phoneNumber(random: Random): string {
  return `(555)555-01${String(random.whole(0, 99)).padStart(2, '0')}`
}

export function streetAddress(random: Random): string {
  return `${random.whole(1, 980)} ${random.pick(streets)} Street`
}

export function scheduleName(random: Random): string {
  const kind = random.pick(['Standard', 'PPO', 'Copay', 'Out of network', 'Benefit table', 'Family discount'])
  return `${kind} ${inventedName(random)} ${random.whole(2023, 2027)}`
}

export function locationName(random: Random): string {
  return `${random.pick(directions)} ${inventedName(random)} Dental`
}
