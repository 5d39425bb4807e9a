import { frame } from './frame.ts'
import { signIn } from './sign-in.ts'

export { refusals } from './refusals.ts'

/** Every text of the pages, by its English text: this is the list of all texts. */
export const spanish = { ...frame, ...signIn } as const

export type Spanish = typeof spanish
