import { language } from '../../language/language.ts'

/** The language of every text, date and number: a page in one language, whatever the browser is set to. */
export const locale = ({ en: 'en-US', es: 'es-US' } as const)[language]

/** A count with its thousands apart. */
export function formatCount(count: number): string {
  return count.toLocaleString(locale)
}
