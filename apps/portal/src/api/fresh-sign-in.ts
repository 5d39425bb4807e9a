import { useCallback, useSyncExternalStore } from 'react'
import { PortalError } from './call.ts'
import { queryClient } from './query-client.ts'
import { refreshSession, sessionQuery } from './session.ts'

/** A question that is open: the modal that asks it answers true when the person has signed in again, false when they cancelled. */
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

/** Asks the person to sign in again in place. */
export function askToSignIn(): Promise<boolean> {
  // Of two acts that ask at once, the first waits no longer: one dialog has one question.
  question?.answer(false)
  return new Promise((resolve) =>
    setQuestion({
      answer: (confirmed) => {
        setQuestion(null)
        resolve(confirmed)
      },
    }),
  )
}

/**
 * Runs an act. When it needs a sign-in, fresh or at all, asks for one and runs it once more; when another tab has signed in anew, whose
 * token this one lacks, reads the session and runs it once more, for the same person only.
 */
export function useConfirmedAct() {
  return useCallback(async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof PortalError) || !(await isMended(error.code))) throw error
      return await act()
    }
  }, [])
}

async function isMended(code: string): Promise<boolean> {
  if (code === 'fresh_sign_in_required' || code === 'sign_in_required') return await askToSignIn()
  if (code !== 'csrf_token_invalid') return false
  const known = queryClient.getQueryData(sessionQuery.queryKey)
  const found = await refreshSession()
  if (known?.user.id === found.user.id) return true
  location.assign('/')
  return false
}
