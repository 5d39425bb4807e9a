import { TextInput } from '@mantine/core'
import { t } from '../../language/t.ts'
import { useTypedText } from '../state/typed-text.ts'
import { useUrlState } from '../state/url-state.ts'
import { fieldFault } from './field-fault.ts'

/**
 * The first or the last day of a list, kept in the address. A day that the server does not accept stays here with what is wrong, and the list is
 * asked without it: the year 0002 is on the way to 2026.
 */
export function DayField({ name, width }: { name: 'from' | 'to'; width: number }) {
  const [{ from = '', to = '' }, change] = useUrlState<{ from?: string; to?: string; page?: number }>()
  const [text, setText] = useTypedText({ from, to }[name], (day) =>
    change({ [name]: day || undefined, page: undefined }),
  )
  return (
    <TextInput
      label={name === 'from' ? t('From') : t('To')}
      type="date"
      value={text}
      error={fieldFault(name, { from, to, [name]: text })}
      onChange={(event) => setText(event.currentTarget.value)}
      w={{ base: '100%', xs: width }}
    />
  )
}
