import type { RequestErrors } from '@bridgework/contract/portal'
import { Group, Text, UnstyledButton } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { When } from '../../../ui/When.tsx'
import { useCompanyParams } from '../company.ts'
import { errorsQuery, filterOf, type LogsSearch } from './logs-search.ts'
import { Route } from './RequestTable.tsx'
import { StatusBadge } from './StatusBadge.tsx'

/** Errors by what they have in common, the most frequent first; their number opens the requests. */
export function ErrorGroups() {
  const { company_id } = useCompanyParams()
  const [search, change] = useUrlState<LogsSearch>()
  const { data: groups } = useSuspenseQuery(errorsQuery(company_id, filterOf(search))).data
  if (groups.length === 0) {
    return (
      <EmptyState icon={IconCircleCheck} title="No errors">
        No request of the last 30 days that matches the filters was answered with 400 or more.
      </EmptyState>
    )
  }
  const open = ({ status, code, route, parameter, rule }: RequestErrors) => {
    const group = { status: String(status), code, route, parameter, rule }
    change({
      view: undefined,
      ...Object.fromEntries(Object.entries(group).map(([name, of]) => [name, of ?? undefined])),
    })
  }
  return (
    <DataTable
      caption="Errors"
      isDense
      rows={groups}
      rowKey={({ method, route, status, code, parameter, rule }) =>
        [method, route, status, code, parameter, rule].join(' ')
      }
      columns={[
        {
          header: 'Requests',
          align: 'right',
          cell: (group) => (
            <UnstyledButton
              onClick={() => open(group)}
              td="underline"
              aria-label={`Show the ${formatCount(group.requests)} requests with ${group.status} ${group.code ?? ''} at ${group.route}`}
            >
              {formatCount(group.requests)}
            </UnstyledButton>
          ),
        },
        {
          header: 'Status',
          cell: ({ status, code }) => (
            <Group gap="xs" wrap="nowrap">
              <StatusBadge status={status} />
              {code && <Text size="xs">{code}</Text>}
            </Group>
          ),
        },
        { header: 'Request', cell: (group) => <Route {...group} /> },
        { header: 'What is wrong', cell: (group) => <Text size="sm">{faultOf(group)}</Text> },
        { header: 'First', cell: ({ first_at }) => <When at={first_at} /> },
        { header: 'Last', cell: ({ last_at }) => <When at={last_at} /> },
      ]}
    />
  )
}

function faultOf({ parameter, rule, rule_meaning, meaning }: RequestErrors): string {
  if (rule === null) return meaning ?? '–'
  return `${parameter ?? 'A parameter that is not known'}: ${rule_meaning ?? rule}`
}
