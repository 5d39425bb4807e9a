import type { FoundThing, PortalAnswers } from '@bridgework/contract/portal'
import { Card, Stack, Text } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { type ListSearch, listQuery, useUrlState } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { StatusBadge } from '../company/logs/StatusBadge.tsx'

const kinds: Record<FoundThing['kind'], string> = {
  company: 'Company',
  organization: 'Practice',
  location: 'Location',
  agent: 'Agent',
  person: 'Person',
}

/** One field for whatever somebody asks about. */
export function FindPage() {
  const [search] = useUrlState<ListSearch>()
  const { search: text } = listQuery(search)
  const { data, request } = useSuspenseQuery(read('findAnything', { query: { search: text } })).data
  return (
    <>
      <PageHeader
        title="Find"
        description="A company, practice, location, agent or person by name or id, or a vendor’s request by its id."
      />
      <Stack>
        <SearchField label="Find anything" placeholder="Name, e-mail address or id" />
        {request && <RequestSection request={request} />}
        {data.length > 0 && (
          <Card withBorder padding="md">
            <DataTable
              caption="Found"
              rows={data}
              rowKey={({ kind, id }) => `${kind} ${id}`}
              columns={[
                { header: 'Kind', cell: ({ kind }) => kinds[kind] },
                { header: 'Name', cell: (found) => <FoundLink found={found} /> },
                { header: 'About', cell: ({ detail }) => detail ?? '–' },
                { header: 'Id', cell: ({ id }) => <Text size="xs">{id}</Text> },
              ]}
            />
          </Card>
        )}
        {text && !request && data.length === 0 && (
          <EmptyState icon={IconSearch} title="Nothing found">
            Requests are kept for 30 days. Check the id, or search for a part of the name.
          </EmptyState>
        )}
      </Stack>
    </>
  )
}

function FoundLink({ found: { kind, id, name } }: { found: FoundThing }) {
  const look = { size: 'sm', fw: 500, children: name } as const
  if (kind === 'company') return <PageLink to="/operator/companies/$company_id" params={{ company_id: id }} {...look} />
  if (kind === 'agent') return <PageLink to="/operator/agents/$agent_id" params={{ agent_id: id }} {...look} />
  if (kind === 'person') return <PageLink to="/operator/people/$user_id" params={{ user_id: id }} {...look} />
  if (kind === 'location') {
    return <PageLink to="/operator/locations/$location_id" params={{ location_id: id }} {...look} />
  }
  return <PageLink to="/operator/organizations/$organization_id" params={{ organization_id: id }} {...look} />
}

function RequestSection({ request }: { request: NonNullable<PortalAnswers['findAnything']['request']> }) {
  const { company_id, company_name, location_id, parameter, rule, rule_meaning } = request
  return (
    <Section title="Request" description={request.request_id}>
      <Facts
        facts={{
          Company: (
            <PageLink to="/operator/companies/$company_id" params={{ company_id }} size="sm">
              {company_name}
            </PageLink>
          ),
          Answered: <When at={request.answered_at} />,
          Request: `${request.method} ${request.route}`,
          Status: <StatusBadge status={request.status} />,
          Code: request.code ?? 'none',
          ...(rule && { 'What is wrong': `${parameter ?? 'A parameter that is not known'}: ${rule_meaning ?? rule}` }),
          ...(request.because && { Reason: request.because }),
          ...(location_id && {
            Location: (
              <PageLink to="/operator/locations/$location_id" params={{ location_id }} size="sm">
                {location_id}
              </PageLink>
            ),
          }),
        }}
      />
    </Section>
  )
}
