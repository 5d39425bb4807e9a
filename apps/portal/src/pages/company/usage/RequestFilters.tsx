import { Button, Group, Select, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { filterOf, isAccepted, noFilter, type RequestFilter } from './usage-search.ts'

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
  { name: 'location_id', label: 'Location id', placeholder: 'Any location' },
  { name: 'client_id', label: 'Client id', placeholder: 'Any key pair' },
  { name: 'request_id', label: 'Request id', placeholder: 'Any request' },
] as const

const fieldWidth = { base: '100%', xs: 190 }

/** Filters the request log; kept in the address. */
export function RequestFilters() {
  const [search, change] = useUrlState<RequestFilter>()
  const filter = filterOf(search)
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label="Outcome"
        placeholder="All requests"
        data={outcomes}
        value={filter.outcome ?? null}
        onChange={(outcome) => change({ outcome })}
        clearable
        clearButtonProps={{ 'aria-label': 'All requests' }}
        w={fieldWidth}
      />
      {texts.map((field) => (
        <TextFilter key={field.name} {...field} value={filter[field.name] ?? ''} onChange={change} />
      ))}
      {(['since', 'until'] as const).map((name) => (
        <TextInput
          key={name}
          label={name === 'since' ? 'From' : 'Until'}
          type="datetime-local"
          value={localTime(filter[name])}
          onChange={(event) => change({ [name]: instantOf(event.currentTarget.value) })}
          w={fieldWidth}
        />
      ))}
      {Object.keys(filter).length > 0 && (
        <Button variant="subtle" onClick={() => change(noFilter)}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

const pauseMs = 400

/** Filters when the person has stopped typing. */
function TextFilter({
  name,
  label,
  placeholder,
  value,
  onChange,
}: (typeof texts)[number] & { value: string; onChange: (change: RequestFilter) => void }) {
  const [text, setText] = useState(value)
  const pending = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address may change without us: by the back button, or by "Clear filters".
  useEffect(() => setText(value), [value])
  useEffect(() => () => clearTimeout(pending.current), [])
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      error={text !== '' && !isAccepted(name, text) && 'A number like 404, or 4xx'}
      maxLength={100}
      onChange={(event) => {
        const typed = event.currentTarget.value
        setText(typed)
        clearTimeout(pending.current)
        if (typed !== '' && !isAccepted(name, typed.trim())) return
        pending.current = setTimeout(() => onChange({ [name]: typed.trim() || undefined } as RequestFilter), pauseMs)
      }}
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
