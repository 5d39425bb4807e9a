import { Button, Group, Select, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../../api/query.ts'
import { belowLabel, fieldFault } from '../../../ui/filters/field-fault.ts'
import { useTypedText } from '../../../ui/state/typed-text.ts'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { useCompanyParams } from '../company.ts'
import { type LogsSearch, noFilter, type RequestFilter } from './logs-search.ts'

const outcomes = [
  { value: 'ok', label: 'Successful' },
  { value: 'throttled', label: 'Rate limited (429)' },
  { value: 'error', label: 'Other errors' },
  { value: 'unauthenticated', label: 'Failed authentications' },
]

const texts = [
  { name: 'status', label: 'Status', placeholder: '404 or 4xx' },
  { name: 'code', label: 'Code', placeholder: 'parameter_invalid' },
  { name: 'route', label: 'Route', placeholder: 'patients' },
  { name: 'parameter', label: 'Parameter', placeholder: 'items' },
  { name: 'rule', label: 'Rule', placeholder: 'whole_number' },
  { name: 'location_id', label: 'Location id', placeholder: 'Any location' },
  { name: 'client_id', label: 'Client id', placeholder: 'Any key pair' },
  { name: 'request_id', label: 'Request id', placeholder: 'Any request' },
] as const

const fieldWidth = { base: '100%', xs: 172 }

/** Filters the request log; kept in the address. */
export function RequestFilters() {
  const [search, change] = useUrlState<LogsSearch>()
  const practices = useSuspenseQuery(read('listPractices', { params: useCompanyParams() })).data.data
  return (
    <Group align="flex-start" gap="sm">
      {search.view !== 'errors' && (
        <Select
          label="Outcome"
          placeholder="All requests"
          data={outcomes}
          value={search.outcome ?? null}
          onChange={(outcome) => change({ outcome })}
          clearable
          clearButtonProps={{ 'aria-label': 'All requests' }}
          w={fieldWidth}
        />
      )}
      <Select
        label="Practice"
        placeholder="All practices"
        data={practices.map(({ id, name }) => ({ value: id, label: name }))}
        value={search.organization_id ?? null}
        onChange={(organization_id) => change({ organization_id })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All practices' }}
        w={fieldWidth}
      />
      {texts.map((field) => (
        <TextFilter
          key={field.name}
          {...field}
          value={search[field.name] ?? ''}
          error={fieldFault(field.name, search)}
          onChange={change}
        />
      ))}
      {(['since', 'until'] as const).map((name) => (
        <TimeFilter key={name} name={name} value={search[name]} error={fieldFault(name, search)} onChange={change} />
      ))}
      {Object.keys(noFilter).some((name) => search[name as keyof RequestFilter]) && (
        <Button variant="subtle" mt={belowLabel} onClick={() => change(noFilter)}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

/** Filters when the person has stopped typing. */
function TextFilter({
  name,
  label,
  placeholder,
  value,
  error,
  onChange,
}: (typeof texts)[number] & {
  value: string
  error: string | undefined
  onChange: (change: { [name: string]: string | undefined }) => void
}) {
  const [text, setText] = useTypedText(value, (typed) => onChange({ [name]: typed || undefined }))
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      error={error}
      maxLength={100}
      onChange={(event) => setText(event.currentTarget.value)}
      w={fieldWidth}
    />
  )
}

/** The first or the last moment, in the viewer's time. */
function TimeFilter({
  name,
  value,
  error,
  onChange,
}: {
  name: 'since' | 'until'
  value: string | undefined
  error: string | undefined
  onChange: (change: RequestFilter) => void
}) {
  const [text, setText] = useTypedText(localTime(value), (typed) => onChange({ [name]: instantOf(typed) }))
  return (
    <TextInput
      label={name === 'since' ? 'From' : 'Until'}
      type="datetime-local"
      value={text}
      error={error}
      onChange={(event) => setText(event.currentTarget.value)}
      w={fieldWidth}
    />
  )
}

/** What a field for a local time shows; '' where there is no instant. */
function localTime(instant: string | undefined): string {
  const at = new Date(instant ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function instantOf(local: string): string | undefined {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
