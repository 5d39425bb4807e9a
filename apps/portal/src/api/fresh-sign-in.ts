import { useCallback, useSyncExternalStore } from 'react'
import { PortalError } from './call.ts'

/** A question that is open: the modal that asks it answers true when the person has signed in again, false when they gave up. */
type Question = { answer: (confirmed: boolean) => void }

let question: Question | null = null
const listeners = new Set<() => void>()

function setQuestion(next: Question | null): void {
  question = next
  for (const listener of listeners) listener()
}

/** The open question, for the one modal that the shell shows. */
export function useSignInQuestion(): Question | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => question,
  )
}

/** Runs an act; when it needs a fresh sign-in, asks for one and runs it once more. */
export function useFreshSignIn() {
  return useCallback(async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof PortalError) || error.code !== 'fresh_sign_in_required') throw error
      const confirmed = await new Promise<boolean>((resolve) =>
        setQuestion({
          answer: (value) => {
            setQuestion(null)
            resolve(value)
          },
        }),
      )
      if (!confirmed) throw error
      return await act()
    }
  }, [])
}
