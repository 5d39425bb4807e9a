import { Select, type SelectProps } from '@mantine/core'

/** A choice of the IANA time zones; null: none. */
export function TimeZoneSelect(props: SelectProps) {
  return (
    <Select
      label="Time zone"
      data={Intl.supportedValuesOf('timeZone')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'No time zone' }}
      nothingFoundMessage="No time zone found"
      limit={100}
      {...props}
    />
  )
}
