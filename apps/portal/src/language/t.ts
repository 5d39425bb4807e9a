import { IntlMessageFormat } from 'intl-messageformat'
import { Children, type ReactNode } from 'react'
import { locale } from '../ui/format/locale.ts'
import type { Spanish } from './es/index.ts'
import { language } from './language.ts'

/** A text of the portal, in English, as an ICU message. One without a Spanish text does not compile. */
export type Message = keyof Spanish

type Texts = Partial<Record<string, string>>
type Values = Record<string, ReactNode | ((text: ReactNode) => ReactNode)>

let catalogue: { spanish: Texts; refusals: Texts } | null = language === 'en' ? { spanish: {}, refusals: {} } : null

/** Reads the texts of the page's language, before anything is shown. */
export async function readCatalogue(): Promise<void> {
  catalogue ??= await import('./es/index.ts')
}

/** A text in a constant of a file that runs before the catalogue is there: shown by `t` later. */
export function message<Name extends Message>(text: Name): Name {
  return text
}

function texts() {
  if (!catalogue) throw new Error('a text is shown before the catalogue was read')
  return catalogue
}

const formats = new Map<string, IntlMessageFormat>()

/**
 * A text in the language of the page. `values`: what its places hold, as it is: nothing in it is read as a message. A function is a tag, and gets
 * the text within.
 */
export function t(message: Message, values?: Record<string, string | number>): string
export function t(message: Message, values: Values): ReactNode
export function t(message: Message, values?: Values): ReactNode {
  const text = texts().spanish[message] ?? message
  // Most texts have no places.
  if (!/[{<']/.test(text)) return text
  let format = formats.get(text)
  if (!format) {
    format = new IntlMessageFormat(text, locale)
    formats.set(text, format)
  }
  const filled = format.format<ReactNode>(
    Object.fromEntries(
      Object.entries(values ?? {}).map(([name, value]) => [
        name,
        typeof value === 'function' ? (parts: ReactNode[]) => value(Children.toArray(parts)) : value,
      ]),
    ),
  )
  return Array.isArray(filled) ? Children.toArray(filled) : filled
}

/** A text that the contract or the server made, in the language of the page where the catalogue has it, else as it is. */
export function known(text: string): string {
  return texts().spanish[text] ?? text
}

/** Why the server refused, in the language of the page. Where Spanish does not have the sentence, it says what the code means. */
export function refusal(code: string, text: string): string {
  const { spanish, refusals } = texts()
  return spanish[text] ?? refusals[code] ?? text
}
