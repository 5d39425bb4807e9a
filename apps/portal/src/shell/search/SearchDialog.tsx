import type { Membership } from '@bridgework/contract/portal'
import { Box, Modal, NavLink, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import classes from '../Shell.module.css'
import { findNames, matching, type Place, placesOf } from './places.ts'

/** Fewer letters are in almost every name. */
const lettersMin = 2

/** Finds pages, and vendors and locations by name. Arrow keys choose, Enter opens, Escape closes. */
export function SearchDialog({
  opened,
  onClose,
  membership,
}: {
  opened: boolean
  onClose: () => void
  membership: Membership | undefined
}) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('Search')}
      closeButtonProps={{ 'aria-label': t('Close') }}
      yOffset="10vh"
      transitionProps={{ duration: 0 }}
    >
      <Search membership={membership} onClose={onClose} />
    </Modal>
  )
}

/** Begins anew each time the dialog opens. A combobox with a list, as WAI-ARIA describes it: the focus stays in the field. */
function Search({ membership, onClose }: { membership: Membership | undefined; onClose: () => void }) {
  const session = useSession()
  const navigate = useNavigate()
  const listId = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [search] = useDebouncedValue(text.trim(), 200)
  const isNamed = membership !== undefined && search.length >= lettersMin
  const names = useQuery({
    queryKey: ['search', membership?.id, search],
    queryFn: isNamed ? ({ signal }) => findNames(membership, search, signal) : skipToken,
  })
  // Names of a text that has changed since would move under the person's choice.
  const isCurrent = search === text.trim()
  const found = [...matching(placesOf(session, membership), text.trim()), ...((isCurrent && names.data) || [])]
  const isSearching = names.isFetching || !isCurrent

  const go = ({ to }: Place) => {
    onClose()
    void navigate({ to })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the composition of a letter.
    if (event.nativeEvent.isComposing || found.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const place = found[chosen]
    if (step) setChosen((chosen + step + found.length) % found.length)
    else if (event.key === 'Enter' && place) go(place)
    else return
    event.preventDefault()
  }
  return (
    <>
      <TextInput
        type="search"
        role="combobox"
        aria-label={t('Search pages and names')}
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found[chosen] && `${listId}-${chosen}`}
        placeholder={t('Page, vendor or location')}
        leftSection={<IconSearch size={16} aria-hidden />}
        maxLength={100}
        autoComplete="off"
        data-autofocus
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ErrorNote error={names.error} />
      <Text size="sm" c="dimmed" mt="sm" role="status">
        {found.length === 0 && (isSearching ? t('Searching…') : t('Nothing found.'))}
      </Text>
      <Box id={listId} role="listbox" aria-label={t('Results')}>
        {[...Map.groupBy(found, ({ group }) => group)].map(([group, places]) => (
          <Box key={group} role="group" aria-label={group} mt="xs">
            <Text size="xs" fw={600} c="dimmed" px="sm" py={4} aria-hidden>
              {group}
            </Text>
            {places.map((place) => {
              const index = found.indexOf(place)
              return (
                <NavLink
                  key={place.to}
                  component="div"
                  role="option"
                  id={`${listId}-${index}`}
                  aria-selected={index === chosen}
                  active={index === chosen}
                  label={place.label}
                  description={place.detail}
                  className={classes.menuItem}
                  ref={index === chosen ? scrollToIt : undefined}
                  onClick={() => go(place)}
                />
              )
            })}
          </Box>
        ))}
      </Box>
    </>
  )
}

/** The list is longer than the dialog. */
function scrollToIt(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}
