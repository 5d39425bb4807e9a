/** The text without surrounding blanks. */
export function text(value: string | null | undefined): string {
  return (value ?? '').trim()
}

/** As `text`, with null for nothing. */
export function textOrNull(value: string | null | undefined): string | null {
  const cleaned = text(value)
  return cleaned === '' ? null : cleaned
}

/** Characters of the longest text, and digits before the point of the largest amount, that the contract takes. */
export const [noteLengthMax, amountDigitsMax] = [20_000, 13]

/** A reference of Open Dental's: 0 stands for none. */
export function referenceOrNull(value: string | null | undefined): string | null {
  return value === null || value === undefined || value === '0' ? null : value
}

/**
 * Whether a date, or a date with a time, lies in a year that a practice can mean: 1880 to 2199. Open Dental itself takes what is before 1880 for
 * "no date"; what is far ahead stands for "never", or was mistyped. So an end that is reckoned from it, in any zone, has a year of four digits.
 */
export function isWithinYears(value: string): boolean {
  return value >= '1880-01-01' && value < '2200-01-01'
}

/** A calendar date, or null for Open Dental's "no date": 0001-01-01, in old databases also 0000-00-00. */
export function dateOrNull(value: string | null | undefined): string | null {
  return value === null || value === undefined || !isWithinYears(value) ? null : value.slice(0, 10)
}

export function isTrue(value: string | null | undefined): boolean {
  return value !== null && value !== undefined && value !== '0' && value !== ''
}

/** An amount that SQL has cast to `decimal(19,2)`, or null where the contract takes no amount that large. */
export function moneyOrNull(value: string | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return value.replace('-', '').indexOf('.') > amountDigitsMax ? null : money(value)
}

/** The same, however large: the service refuses an amount that it cannot hold, so that it is never taken for zero. */
export function money(value: string): string {
  // There is no negative nothing.
  return value === '-0.00' ? '0.00' : value
}

/** The exact sum of amounts with two digits each. */
export function sumOfMoney(...amounts: readonly string[]): string {
  const cents = amounts.reduce((sum, amount) => sum + centsOf(amount), 0n)
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export function negated(amount: string): string {
  return sumOfMoney(amount.startsWith('-') ? amount.slice(1) : amount === '0.00' ? amount : `-${amount}`)
}

function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''))
}
