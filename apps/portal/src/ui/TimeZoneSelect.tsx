import { Select, type SelectProps } from '@mantine/core'
import { t } from '../language/t.ts'

/** A choice of the IANA time zones; null: none. */
export function TimeZoneSelect(props: SelectProps) {
  return (
    <Select
      label={t('Time zone')}
      data={Intl.supportedValuesOf('timeZone')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('No time zone') }}
      nothingFoundMessage={t('No time zone found')}
      limit={100}
      {...props}
    />
  )
}
