import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { t } from '../../language/t.ts'
import { useTypedText } from '../state/typed-text.ts'
import { type ListSearch, useUrlState } from '../state/url-state.ts'

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
  const [text, setText] = useTypedText(search, (typed) => change({ [parameter]: typed || undefined, page: undefined }))
  return (
    <TextInput
      type="search"
      {...(isLabelShown ? { label } : { 'aria-label': label })}
      placeholder={placeholder}
      value={text}
      maxLength={100}
      onChange={(event) => setText(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        text !== '' && (
          <CloseButton
            size="sm"
            aria-label={parameter === 'person' ? t('Clear person') : t('Clear search')}
            onClick={() => setText('')}
          />
        )
      }
      w={{ base: '100%', xs: isLabelShown ? 190 : 280 }}
    />
  )
}
