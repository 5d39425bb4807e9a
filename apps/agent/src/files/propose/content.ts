import { readAmount } from '../reading/amounts.ts'
import { dateReader } from '../reading/date-format.ts'

/** The settings that read the texts of a column. `question`: what a person must decide. */
export type Writing = { readonly rule: Readonly<Record<string, unknown>>; readonly question: string | null }

const days = [
  'M/D/YYYY',
  'D/M/YYYY',
  'D.M.YYYY',
  'YYYYMMDD',
  'M-D-YYYY',
  'D-M-YYYY',
  'YYYY/M/D',
  'D MMM YYYY',
  'D-MMM-YYYY',
  'MMM D, YYYY',
  'M/D/YY',
  'D/M/YY',
  'D.M.YY',
  'D-MMM-YY',
] as const
const times = ['h:mm A', 'h:mm:ss A', 'H:mm', 'H:mm:ss'] as const
const nothing = /^0+([/.-]0+)*( 0+:0+(:0+)?)?$/

/** How dates, or dates with a time, are written; null: a text is not a date. */
export function dateWriting(texts: readonly string[], hasTime: boolean): Writing | null {
  const empty = [...new Set(texts.filter((text) => nothing.test(text)))]
  const filled = texts.filter((text) => !nothing.test(text))
  if (filled.length === 0) return null
  const more = empty.length > 0 ? { empty } : {}
  const fits = (format: string | null, language: string) => {
    const read = dateReader({ format, pivot: pivotNow(), language })
    return typeof read === 'function' && filled.every((text) => read(text) !== null)
  }
  if (fits(null, 'en')) return { rule: more, question: null }
  const formats = [...days, ...days.flatMap((day) => times.map((time) => `${day} ${time}`))]
  for (const language of ['en', 'de']) {
    const found = formats.filter((format) => fits(format, language))
    const format = hasTime ? (found.find((each) => each.includes(':')) ?? found[0]) : found[0]
    if (format === undefined) continue
    const isShort = /(?<!Y)YY(?!Y)/.test(format)
    const rule = {
      format,
      ...(isShort && { pivot: pivotNow() }),
      ...(language !== 'en' && { language }),
      ...more,
    }
    const isUnclear = found.some((each) => /^M.D/.test(each)) && found.some((each) => /^D.M/.test(each))
    const question = isUnclear
      ? 'Is the month or the day first? Both fit all of these dates.'
      : isShort
        ? 'Which years of two digits are of this century? pivot is the last one.'
        : null
    return { rule, question }
  }
  return null
}

/** The format of times of day; null: a text is not a time. */
export function timeFormat(texts: readonly string[]): string | null {
  if (texts.length === 0) return null
  const fits = (time: string) => {
    const read = dateReader({ format: `YYYY-MM-DD ${time}`, pivot: null, language: 'en' })
    return typeof read === 'function' && texts.every((text) => read(`2000-01-01 ${text}`) !== null)
  }
  return times.find(fits) ?? null
}

function pivotNow(): number {
  return new Date().getFullYear() % 100
}

/** How amounts are written; null: a text is not an amount. */
export function amountWriting(texts: readonly string[]): Writing | null {
  if (texts.length === 0) return null
  const minus = texts.some((text) => /cr$/i.test(text)) ? ['CR'] : []
  const plus = texts.some((text) => /dr$/i.test(text)) ? ['DR'] : []
  const words = { ...(minus.length > 0 && { minus }), ...(plus.length > 0 && { plus }) }
  const decimal = ([',', '.'] as const).find((mark) => {
    const rule = { decimal: mark, negate: false, scale: 0, minus, plus }
    const isMark = texts.some((text) => new RegExp(`\\${mark}\\d{1,2}(?!\\d)`).test(text))
    return isMark && texts.every((text) => readAmount(text, rule) !== null)
  })
  if (decimal !== undefined) return { rule: { ...(decimal === ',' && { decimal }), ...words }, question: null }
  const plain = { decimal: '.' as const, negate: false, scale: 0, minus, plus }
  if (!texts.every((text) => readAmount(text, plain) !== null)) return null
  return { rule: words, question: 'No amount has decimals. Are they in cents? Then add scale = 2.' }
}

/** Whole numbers, as lengths of visits; null: a text is not a whole number. */
export function numberWriting(texts: readonly string[], longestMin: number): Writing | null {
  if (texts.length === 0 || !texts.every((text) => /^\d{1,6}$/.test(text))) return null
  const isShort = Math.max(...texts.map(Number)) <= longestMin
  const question = isShort ? 'Are these units of several minutes? Then add multiply, as multiply = 10.' : null
  return { rule: {}, question }
}
