import { type UseFormInput, type UseFormReturnType, useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { forget, keep, prefix, readDraft } from './draft-store.ts'

/**
 * A form whose values survive a sign-out by the clock: they are kept for this tab until the form is sent (`forget`) or the person signs out by
 * choice, and for this person alone. `name`: where the form is, the tenant's id included. `secrets`: values that are never kept. What is kept
 * counts as changed. Never for a form that has nothing but a password or a code.
 */
export function useDraftForm<Values extends Record<string, unknown>>(
  name: string,
  input: UseFormInput<Values> & { initialValues: Values; secrets?: readonly (keyof Values)[] },
): { form: UseFormReturnType<Values>; forget: () => void } {
  const { secrets = [], ...rest } = input
  const key = useKey(name)
  const [draft] = useState(() => readDraft<Values>(key))
  const form = useForm<Values>({
    mode: 'uncontrolled',
    ...rest,
    initialValues: { ...rest.initialValues, ...draft },
    onValuesChange: (values) =>
      keep(
        key,
        JSON.stringify(values, (field, value) => (secrets.includes(field) ? undefined : value)),
      ),
  })
  const { resetDirty } = form
  const [unchanged] = useState(rest.initialValues)
  useEffect(() => {
    if (draft) resetDirty(unchanged)
  }, [draft, resetDirty, unchanged])
  return { form, forget: () => forget(key) }
}

/** A value that is not a form's, kept as one is; null where there is no draft. It is kept as JSON. */
export function useDraft<Value>(name: string): [Value | null, (value: Value | null) => void] {
  const key = useKey(name)
  const [held, setHeld] = useState(() => ({ key, value: readDraft<Value>(key) }))
  const change = (value: Value | null) => {
    setHeld({ key, value })
    if (value === null) forget(key)
    else keep(key, JSON.stringify(value))
  }
  // A dialog is about something else each time.
  return [held.key === key ? held.value : readDraft<Value>(key), change]
}

/** What forgets a draft, for a dialog that is closed by choice. */
export function useForget(name: string): () => void {
  const key = useKey(name)
  return () => forget(key)
}

/** The next person who signs in to this tab finds nothing of another one. */
function useKey(name: string): string {
  return `${prefix}${useSession().user.id} ${name}`
}
