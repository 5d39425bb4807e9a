/** With what the keys of drafts begin. */
export const prefix = 'bridgework.draft.'

/** What every form of this tab holds: the server has the browser empty its storage at a sign-out, in all tabs at once. */
const drafts = new Map<string, string>()

/** Takes up what an earlier page of this tab kept. */
export function holdDrafts(): void {
  for (const [key, text] of Object.entries({ ...sessionStorage })) {
    if (key.startsWith(prefix) && !drafts.has(key)) drafts.set(key, text)
  }
}

/** Puts back what the forms held before the storage was emptied. */
export function restoreDrafts(): void {
  for (const [key, text] of drafts) sessionStorage.setItem(key, text)
}

/** Forgets what was typed into any form in this tab. */
export function forgetDrafts(): void {
  drafts.clear()
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}

/** Keeps what a form holds now. */
export function keep(key: string, text: string): void {
  drafts.set(key, text)
  sessionStorage.setItem(key, text)
}

/** Forgets one form's. */
export function forget(key: string): void {
  drafts.delete(key)
  sessionStorage.removeItem(key)
}

/** What a form held, or null. */
export function readDraft<Values>(key: string): Values | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}
