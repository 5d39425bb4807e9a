import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '../../platform/errors/problem.ts'

/** NIST SP 800-63B 3.1.1.2: fifteen characters where a password may stand alone, and room for a long sentence. */
export const passwordLengthMin = 15
export const passwordLengthMax = 256

/** From this score of zxcvbn's on (0 to 4), a hundred million guesses do not find it. */
const scoreMin = 3

/**
 * Refuses a password that is short, common, known from breaches or easily guessed, also from what `about` says of the person: name, e-mail
 * address, company. The lists are embedded and nothing is sent anywhere. Throws Problem password_refused, which says what is wrong.
 */
export async function requireGoodPassword(password: string, about: readonly string[]): Promise<void> {
  const length = [...password].length
  if (length < passwordLengthMin) {
    refuse(
      `This password has ${length} characters; at least ${passwordLengthMin} are required. Use several words in a row.`,
    )
  }
  if (password.length > passwordLengthMax) refuse(`This password is too long: at most ${passwordLengthMax} characters.`)
  const words = wordsOf(about)
  if (lettersWithout(password, words) < 8) {
    refuse('This password is mostly your name, e-mail address or company. Choose other words.')
  }
  checker ??= loadChecker()
  const { score, feedback } = (await checker).check(password, words)
  if (score < scoreMin) {
    const why = feedback.warning ? ` ${feedback.warning}` : ''
    refuse(`This password is easy to guess.${why} Choose other words, or add more.`)
  }
}

let checker: ReturnType<typeof loadChecker> | undefined

/** Its lists take a moment and some megabytes, so they are read when the first password is chosen and not when the server starts. */
async function loadChecker() {
  // One after the other, so that others are served in between: together they take 250 ms of the event loop.
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core')
  await nextTurn()
  const common = await import('@zxcvbn-ts/language-common')
  await nextTurn()
  const english = await import('@zxcvbn-ts/language-en')
  await nextTurn()
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    translations: english.translations,
    // Each bounds the time that one check takes, some milliseconds: a password that is good within so much is good.
    maxLength: 64,
    l33tMaxSubstitutions: 5,
  })
}

/** Whole and in words: `olga.owner@vendor.example` is also `olga`, `owner` and `vendor`. */
function wordsOf(about: readonly string[]): string[] {
  return about.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length >= 3)
}

function lettersWithout(password: string, words: readonly string[]): number {
  let rest = password.toLowerCase()
  for (const word of words.toSorted((one, other) => other.length - one.length)) {
    rest = rest.replaceAll(word.toLowerCase(), '')
  }
  return [...rest.replace(/[^\p{L}\p{N}]/gu, '')].length
}

function refuse(errors: string): never {
  throw new Problem('password_refused', { errors })
}
