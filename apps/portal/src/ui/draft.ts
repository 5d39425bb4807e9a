import { type UseFormInput, type UseFormReturnType, useForm } from '@mantine/form'
import { useState } from 'react'

const prefix = 'bridgework.draft.'

/**
 * A form whose values survive a sign-out by the clock: they are kept for this tab until the form is sent (`forget`) or the person
 * signs out by choice. Never for a form with a password or a secret in it. `name`: where the form is, the tenant's id included.
 */
export function useDraftForm<Values extends Record<string, unknown>>(
  name: string,
  input: UseFormInput<Values> & { initialValues: Values },
): { form: UseFormReturnType<Values>; forget: () => void } {
  const key = prefix + name
  const [draft] = useState(() => readDraft<Values>(key))
  const form = useForm<Values>({
    ...input,
    mode: 'uncontrolled',
    initialValues: { ...input.initialValues, ...draft },
    onValuesChange: (values) => keep(key, JSON.stringify(values)),
  })
  return { form, forget: () => forget(key) }
}

/** A value that is not a form's, kept as one is; null where there is no draft. It is kept as JSON. */
export function useDraft<Value>(name: string): [Value | null, (value: Value | null) => void] {
  const key = prefix + name
  const [draft, setDraft] = useState(() => readDraft<Value>(key))
  const change = (value: Value | null) => {
    setDraft(value)
    if (value === null) forget(key)
    else keep(key, JSON.stringify(value))
  }
  return [draft, change]
}

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

function keep(key: string, text: string): void {
  drafts.set(key, text)
  sessionStorage.setItem(key, text)
}

function forget(key: string): void {
  drafts.delete(key)
  sessionStorage.removeItem(key)
}

function readDraft<Values>(key: string): Values | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}
