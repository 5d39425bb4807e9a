import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { type ListSearch, useUrlState } from './state/url-state.ts'

const pauseMs = 300

/** Narrows a list as one types; the text is kept in the address, as this parameter, and the list begins at its first page again. */
export function SearchField({
  label,
  placeholder = label,
  parameter = 'search',
  isLabelShown = false,
}: {
  label: string
  placeholder?: string
  parameter?: 'search' | 'person'
  /** Beside other fields with labels. */
  isLabelShown?: boolean
}) {
  const [{ [parameter]: search = '' }, change] = useUrlState<ListSearch & { person?: string }>()
  const [text, setText] = useState(search)
  const pending = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address may change without us: by the back button, or a link.
  useEffect(() => setText(search), [search])
  useEffect(() => () => clearTimeout(pending.current), [])
  const apply = (value: string, afterMs: number) => {
    setText(value)
    clearTimeout(pending.current)
    pending.current = setTimeout(() => change({ [parameter]: value.trim() || undefined, page: undefined }), afterMs)
  }
  return (
    <TextInput
      type="search"
      {...(isLabelShown ? { label } : { 'aria-label': label })}
      placeholder={placeholder}
      value={text}
      maxLength={100}
      onChange={(event) => apply(event.currentTarget.value, pauseMs)}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        text !== '' && <CloseButton size="sm" aria-label={`Clear ${parameter}`} onClick={() => apply('', 0)} />
      }
      w={{ base: '100%', xs: isLabelShown ? 190 : 280 }}
    />
  )
}
