import type { OrganizationPage } from '@bridgework/contract/portal'
import { Button, Group, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../../api/query.ts'
import { DayField } from '../../../ui/filters/DayField.tsx'
import { belowLabel } from '../../../ui/filters/field-fault.ts'
import { useUrlState } from '../../../ui/state/url-state.ts'
import type { DisclosureFilter } from './disclosures.ts'

type Option = { value: string; label: string }

/** Filters disclosures; kept in the address. `chosen`: the names of the vendor and the location that it has already. */
export function DisclosureFilters({
  organizationId,
  datasets,
  chosen,
}: {
  organizationId: string
  datasets: OrganizationPage['datasets']
  chosen: { vendor: string | undefined; location: string | undefined }
}) {
  const [filter, change] = useUrlState<DisclosureFilter>()
  const params = { organization_id: organizationId }
  const [vendorSearch, setVendorSearch] = useState('')
  const [locationSearch, setLocationSearch] = useState('')
  const vendors = useFoundVendors(params, vendorSearch)
  const locations = useFoundLocations(params, locationSearch)
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <Group align="flex-start" gap="sm">
      <Select
        label="Vendor"
        placeholder="All vendors"
        data={withChosen(vendors, filter.company_id, chosen.vendor)}
        value={filter.company_id ?? null}
        onChange={(company_id) => change({ company_id })}
        onSearchChange={setVendorSearch}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All vendors' }}
        nothingFoundMessage="No vendor found"
        w={{ base: '100%', xs: 200 }}
      />
      <Select
        label="Location"
        placeholder="All locations"
        data={withChosen(locations, filter.location_id, chosen.location)}
        value={filter.location_id ?? null}
        onChange={(location_id) => change({ location_id })}
        onSearchChange={setLocationSearch}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All locations' }}
        nothingFoundMessage="No location found"
        w={{ base: '100%', xs: 200 }}
      />
      <Select
        label="Dataset"
        placeholder="All datasets"
        data={withChosen(
          datasets.map(({ dataset, title }) => ({ value: dataset, label: title })),
          filter.dataset,
          undefined,
        )}
        value={filter.dataset ?? null}
        onChange={(dataset) => change({ dataset })}
        clearable
        clearButtonProps={{ 'aria-label': 'All datasets' }}
        w={{ base: '100%', xs: 180 }}
      />
      <DayField name="from" width={150} />
      <DayField name="to" width={150} />
      {isFiltered && (
        <Button
          variant="subtle"
          mt={belowLabel}
          onClick={() =>
            change({
              company_id: undefined,
              location_id: undefined,
              dataset: undefined,
              from: undefined,
              to: undefined,
            })
          }
        >
          Clear filters
        </Button>
      )}
    </Group>
  )
}

function useFoundVendors(params: { organization_id: string }, typed: string): Option[] {
  const [search] = useDebouncedValue(typed, 300)
  const { data } = useQuery({
    ...read('listVendors', { params, query: { search } }),
    placeholderData: keepPreviousData,
  })
  return (data?.data ?? []).map(({ company_id, name }) => ({ value: company_id, label: name }))
}

function useFoundLocations(params: { organization_id: string }, typed: string): Option[] {
  const [search] = useDebouncedValue(typed, 300)
  const { data } = useQuery({
    ...read('listLocations', { params, query: { search } }),
    placeholderData: keepPreviousData,
  })
  return (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
}

/** What is chosen must be among the options, also where the search has not found it. */
function withChosen(options: Option[], value: string | undefined, label: string | undefined): Option[] {
  if (value === undefined || options.some((option) => option.value === value)) return options
  return [{ value, label: label ?? value }, ...options]
}
