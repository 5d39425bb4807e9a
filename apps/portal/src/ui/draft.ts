import { type UseFormInput, type UseFormReturnType, useForm } from '@mantine/form'
import { useState } from 'react'

const prefix = 'bridgework.draft.'

/**
 * A form whose values survive a sign-out that came by itself: they are kept for this tab until the form is sent (`forget`) or the person
 * signs out by choice. Never for a form with a password or a secret in it. `name`: where the form is, the tenant's id included.
 */
export function useDraftForm<Values extends Record<string, unknown>>(
  name: string,
  input: UseFormInput<Values> & { initialValues: Values },
): { form: UseFormReturnType<Values>; isDraft: boolean; forget: () => void } {
  const key = prefix + name
  const [draft] = useState(() => readDraft<Values>(key))
  const form = useForm<Values>({
    ...input,
    mode: 'uncontrolled',
    initialValues: { ...input.initialValues, ...draft },
    onValuesChange: (values) => sessionStorage.setItem(key, JSON.stringify(values)),
  })
  return { form, isDraft: draft !== null, forget: () => sessionStorage.removeItem(key) }
}

/** Forgets what was typed into any form in this tab. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}

function readDraft<Values>(key: string): Values | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}
