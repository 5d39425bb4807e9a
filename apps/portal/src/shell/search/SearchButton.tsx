import type { Membership } from '@bridgework/contract/portal'
import { Box, Button, Tooltip } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { t } from '../../language/t.ts'

/** Read when the search is opened for the first time. */
const SearchDialog = lazyRouteComponent(() => import('./SearchDialog.tsx'), 'SearchDialog')

/** Opens the search, as Ctrl+K does (⌘K on a Mac), also from within a field. */
export function SearchButton({ membership }: { membership: Membership | undefined }) {
  const [state, setState] = useState<'unopened' | 'open' | 'closed'>('unopened')
  const open = () => {
    // What a dialog asks is answered first.
    if (!document.querySelector('[role=dialog]')) setState('open')
  }
  useHotkeys([['mod+K', open]], [])
  return (
    <>
      <Tooltip label={isMac ? '⌘K' : 'Ctrl+K'}>
        <Button
          variant="default"
          size="xs"
          px={{ base: 6, md: 'xs' }}
          aria-label={t('Search')}
          aria-keyshortcuts="Control+K Meta+K"
          onClick={open}
        >
          <IconSearch size={16} aria-hidden />
          <Box component="span" visibleFrom="md" ml="xs">
            {t('Search')}
          </Box>
        </Button>
      </Tooltip>
      {state !== 'unopened' && (
        <Suspense>
          <SearchDialog opened={state === 'open'} onClose={() => setState('closed')} membership={membership} />
        </Suspense>
      )}
    </>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)
