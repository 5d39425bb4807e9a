/** How amounts of a file are written. */
export type AmountRule = {
  readonly decimal: '.' | ','
  readonly negate: boolean
  /** How many last digits of a text without a decimal mark are decimals: 2 for cents. */
  readonly scale: number
  /** Texts beside the number that make it negative, as CR, and texts that do not, as DR. */
  readonly minus: readonly string[]
  readonly plus: readonly string[]
}

const wholeDigitsMax = 13

/**
 * An amount as the contract writes it; null: the text is not an amount. It reads `1,234.5`, `$ 1234.50`, `-$12.00`, `$-12.00`, `12.00-`, `(12.00)` and, with a
 * decimal comma, `1.234,50`. It refuses more than two decimals unless the others are zero.
 */
export function readAmount(text: string, rule: AmountRule): string | null {
  const { bare, isMinus } = withoutSigns(text, rule)
  const scaled = rule.scale > 0 ? withDecimals(bare, rule) : bare
  const groups =
    rule.decimal === '.'
      ? /^(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d{1,2})0*)?$/
      : /^(\d{1,3}(?:\.\d{3})+|\d+)?(?:,(\d{1,2})0*)?$/
  const [, whole = '', cents = ''] = groups.exec(scaled ?? '') ?? []
  const digits = whole.replaceAll(/\D/g, '').replace(/^0+(?=\d)/, '')
  if (isMinus === null || (whole === '' && cents === '') || digits.length > wholeDigitsMax) return null
  const amount = `${digits || '0'}.${cents.padEnd(2, '0')}`
  return isMinus !== rule.negate && /[1-9]/.test(amount) ? `-${amount}` : amount
}

/** `isMinus`: null when the text has two signs. */
function withoutSigns(text: string, rule: AmountRule): { bare: string; isMinus: boolean | null } {
  let bare = text.replaceAll(/[\s\u00a0\u202f']|\p{Sc}/gu, '')
  let signs = 0
  let isMinus = false
  const take = (without: string, isNegative: boolean) => {
    if (without === bare) return
    bare = without
    signs += 1
    isMinus = isNegative
  }
  for (const [words, isNegative] of [
    [rule.minus, true],
    [rule.plus, false],
  ] as const) {
    for (const word of words) take(withoutWord(bare, word), isNegative)
  }
  take(bare.replace(/^\((.*)\)$/, '$1'), true)
  take(bare.replace(/^[-\u2212]|[-\u2212]$/, ''), true)
  take(bare.replace(/^\+|\+$/, ''), false)
  return { bare, isMinus: signs > 1 ? null : isMinus }
}

function withoutWord(text: string, word: string): string {
  const [all, part] = [text.toLowerCase(), word.toLowerCase().replaceAll(/\s/g, '')]
  if (part === '') return text
  if (all.endsWith(part)) return text.slice(0, -part.length)
  return all.startsWith(part) ? text.slice(part.length) : text
}

/** With `scale` amounts have no decimal mark: a text with one contradicts the mapping. */
function withDecimals(digits: string, { decimal, scale }: AmountRule): string | null {
  if (!/^\d+$/.test(digits)) return null
  const padded = digits.padStart(scale + 1, '0')
  return `${padded.slice(0, -scale)}${decimal}${padded.slice(-scale)}`
}

/** What is owed: debit less credit, exact to the cent. */
export function difference(debit: string, credit: string): string {
  const cents = centsOf(debit) - centsOf(credit)
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''))
}
