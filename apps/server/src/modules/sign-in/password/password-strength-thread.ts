import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'

/** How hard a password is to guess, from 0 to 4, and what is weak in it. */
export type PasswordStrength = { score: number; warning: string | null }

/** What a thread of the pool in password-strength.ts runs; `words` are those that belong to the person. */
export default function strengthOf({ password, words }: { password: string; words: string[] }): PasswordStrength {
  const { score, feedback } = checker.check(password, words)
  return { score, warning: feedback.warning }
}

const checker = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
  // Each bounds the time of a check to some milliseconds: a password whose beginning is good is good.
  maxLength: 64,
  l33tMaxSubstitutions: 5,
})
