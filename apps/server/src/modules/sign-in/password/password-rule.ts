import { Problem } from '../../../platform/errors/problem.ts'
import { commonPhrases } from './common-phrases.ts'
import { estimateStrength } from './password-strength.ts'

/** NIST SP 800-63B 3.1.1.2: fifteen characters where a password may stand alone, and room for a long sentence. */
export const passwordLengthMin = 15
export const passwordLengthMax = 256

/** From this score of zxcvbn's on (0 to 4), a hundred million guesses do not find it. */
const scoreMin = 3

/**
 * Refuses a password that is short, common, known from breaches or easily guessed, is little more than a common phrase, or contains what `about`
 * says of the person: name, e-mail address, company. The lists are embedded and nothing is sent anywhere. It is called when a password is
 * chosen, so earlier passwords keep working. Throws Problem password_refused, which says what is wrong.
 */
export async function requireGoodPassword(password: string, about: readonly string[]): Promise<void> {
  const length = [...password].length
  if (length < passwordLengthMin) {
    refuse(
      `This password has ${length} characters; at least ${passwordLengthMin} are required. Use several words in a row.`,
    )
  }
  if (password.length > passwordLengthMax) refuse(`This password is too long: at most ${passwordLengthMax} characters.`)
  const letters = lettersOf(password)
  const name = namesOf(about).find((each) => letters.includes(lettersOf(each)))
  if (name !== undefined) {
    refuse(`This password contains “${name}”, which is part of your name, e-mail address or company. Leave it out.`)
  }
  const own = commonPhrases.reduce((rest, phrase) => rest.replaceAll(phrase, ''), letters)
  if (own !== letters && own.length < 8) {
    refuse('This password is a phrase that many people use. Choose words that do not belong together.')
  }
  const { score, warning } = await estimateStrength(password, wordsOf(about))
  if (score < scoreMin) {
    const why = warning ? ` ${warning}` : ''
    refuse(`This password is easy to guess.${why} Choose other words, or add more.`)
  }
}

/** Whole and in words: `olga.owner@vendor.example` is also `olga`, `owner` and `vendor`. */
function wordsOf(about: readonly string[]): string[] {
  return about.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length >= 3)
}

/**
 * What a password must not contain: each name whole, its words of four letters or more, and what is before the @ of an address. Words that are
 * in the names of many companies do not count.
 */
function namesOf(about: readonly string[]): string[] {
  return about
    .flatMap((text) => (text.includes('@') ? [text.split('@')[0] ?? ''] : [text, ...text.split(/[^\p{L}\p{N}]+/u)]))
    .filter((name) => lettersOf(name).length >= 4 && !inManyNames.has(name.toLowerCase()))
}

const inManyNames = new Set(
  `associates center centre clinic company corp dental dentist dentistry dentists family group health office partners
  practice smile smiles software team`.split(/\s+/),
)

/** Only letters and digits, in lower case, without the usual replacements of letters: `P@t-Pers0n` is `patperson`. */
function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[@$!013457]/g, (char) => 'asioieast'['@$!013457'.indexOf(char)] ?? char)
    .replace(/[^\p{L}\p{N}]/gu, '')
}

function refuse(errors: string): never {
  throw new Problem('password_refused', { errors })
}
