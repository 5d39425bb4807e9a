import { auditKinds, type Side } from '@bridgework/contract/portal'
import { Button, Group, Select } from '@mantine/core'
import { DayField } from '../../ui/filters/DayField.tsx'
import { belowLabel } from '../../ui/filters/field-fault.ts'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { useUrlState } from '../../ui/state/url-state.ts'
import type { HistorySearch } from './history-search.ts'

const none = { search: undefined, person: undefined, kind: undefined, from: undefined, to: undefined, page: undefined }

/** Narrows a history by what, who, kind and time; kept in the address. */
export function HistoryFilters({ side }: { side: Side }) {
  const [search, change] = useUrlState<HistorySearch>()
  const isFiltered = Object.keys(none).some((name) => name !== 'page' && search[name as keyof HistorySearch])
  const kinds = Object.entries(auditKinds).filter(([, { sides }]) => (sides as readonly Side[]).includes(side))
  return (
    <Group align="flex-start" gap="sm">
      <SearchField label="Search history" placeholder="What or why" isLabelShown />
      <SearchField label="Person" placeholder="Name or address" parameter="person" isLabelShown />
      <Select
        label="Kind"
        placeholder="All kinds"
        data={kinds.map(([value, { title }]) => ({ value, label: title }))}
        value={search.kind ?? null}
        onChange={(kind) => change({ kind, page: undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'All kinds' }}
        w={{ base: '100%', xs: 190 }}
      />
      <DayField name="from" width={140} />
      <DayField name="to" width={140} />
      {isFiltered && (
        <Button variant="subtle" mt={belowLabel} onClick={() => change(none)}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}
