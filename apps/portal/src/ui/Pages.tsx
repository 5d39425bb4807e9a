import { Group, Pagination, Text } from '@mantine/core'
import { t } from '../language/t.ts'
import { type ListSearch, useUrlState } from './state/url-state.ts'

/** Which part of a list is shown, and the way to the others; the page is kept in the address. */
export function Pages({ list }: { list: { data: unknown[]; total: number; page: number; page_size: number } }) {
  const [, change] = useUrlState<ListSearch>()
  if (list.total === 0) return null
  const pages = Math.ceil(list.total / list.page_size)
  const first = (list.page - 1) * list.page_size + 1
  return (
    <Group justify="space-between" component="nav" aria-label={t('Pages of the list')}>
      <Text size="sm" c="dimmed" role="status">
        {list.data.length === 0
          ? t('This page is empty')
          : t('{first}–{last} of {total}', { first, last: first + list.data.length - 1, total: list.total })}
      </Text>
      {(pages > 1 || list.page > pages) && (
        <Pagination
          size="sm"
          total={pages}
          value={Math.min(list.page, pages)}
          onChange={(page) => change({ page: page === 1 ? undefined : page })}
          getItemProps={(page) => ({ 'aria-label': t('Page {page}', { page }) })}
          getControlProps={(control) => ({ 'aria-label': control === 'next' ? t('Next page') : t('Previous page') })}
        />
      )}
    </Group>
  )
}
