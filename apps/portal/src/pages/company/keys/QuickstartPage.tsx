import { Alert, Anchor, Button, Code, Group, SegmentedControl, Stack, Tabs, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { CopyField, Snippet } from '../../../ui/Copy.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { indentedJson } from '../../../ui/format/json.ts'
import { ButtonLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { useCompany, useCompanyParams } from '../company.ts'
import { type SnippetKind, snippetKinds, snippetsOf } from './snippets.ts'

const kindNames: Record<SnippetKind, string> = { curl: 'curl', typescript: 'TypeScript', command: 'Command line' }

/** The first call, as commands with the company's client id, and from the page itself. */
export function QuickstartPage() {
  const company = useCompany()
  const { environment, docs_url, client } = useSuspenseQuery(read('getEnvironment')).data
  const [{ with: kind = 'curl' }, change] = useUrlState<{ with?: SnippetKind }>()
  const baseUrl = `${location.origin}/api/v1/vendors`
  const clientId = company.key_pair?.client_id ?? '<your client id>'
  return (
    <>
      <PageHeader
        title="Quickstart"
        description="From key pair to first record, with commands that you can paste."
        actions={
          <Button component="a" variant="default" href={docs_url} target="_blank" rel="noreferrer">
            API reference
          </Button>
        }
      />
      <Stack>
        {!company.key_pair && <NoKeys companyId={company.id} isAccepted={company.agreement.is_in_force} />}
        <Section title="What you need">
          <CopyField label="Base URL" value={baseUrl} />
          {company.key_pair && <CopyField label="Client id" value={company.key_pair.client_id} />}
          <Text size="sm" c="dimmed">
            You also need the client secret, which was shown once when the key pair was generated. The snippets ask for
            it, so it is neither in your shell&#8217;s history nor on a command line. Paste them one by one into bash or
            zsh.
          </Text>
          {environment === 'sandbox' && company.connections.organizations > 0 && (
            <Text size="sm" c="dimmed">
              A practice has granted your company access, so the last snippet prints records. In the sandbox each vendor
              gets a demo practice of invented patients.
            </Text>
          )}
        </Section>
        <Section title="Make the first call">
          <Tabs
            value={kind}
            onChange={(value) => change({ with: value === 'curl' ? undefined : value })}
            keepMounted={false}
          >
            <Tabs.List mb="md">
              {snippetKinds.map((value) => (
                <Tabs.Tab key={value} value={value}>
                  {kindNames[value]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {snippetKinds.map((value) => (
              <Tabs.Panel key={value} value={value}>
                <Stack>
                  {snippetsOf(value, { baseUrl, clientId, clientUrl: client?.url ?? null }).map((snippet) => (
                    <Snippet key={snippet.label} {...snippet} />
                  ))}
                </Stack>
              </Tabs.Panel>
            ))}
          </Tabs>
          {kind !== 'curl' && client && (
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              The SHA-256 of the package is <Code>{client.sha256}</Code>.
            </Text>
          )}
          <Text size="sm" c="dimmed">
            A token is valid for six hours: reuse it, and request a new one when it expires. For pages, changes and
            limits, read the{' '}
            <Anchor href={docs_url} target="_blank" rel="noreferrer" underline="always" inherit>
              API reference
            </Anchor>
            .
          </Text>
        </Section>
        {environment === 'sandbox' && <TryIt />}
      </Stack>
    </>
  )
}

function NoKeys({ companyId, isAccepted }: { companyId: string; isAccepted: boolean }) {
  return (
    <Alert variant="light">
      <Group justify="space-between">
        <Text size="sm" c="bright">
          {isAccepted
            ? 'There is no live key pair yet. The snippets below need one.'
            : 'Keys need the developer API agreement. The owner must accept it first.'}
        </Text>
        <ButtonLink
          size="xs"
          to={isAccepted ? '/company/$company_id/keys' : '/company/$company_id/agreement'}
          params={{ company_id: companyId }}
        >
          {isAccepted ? 'Go to API keys' : 'Read the agreement'}
        </ButtonLink>
      </Group>
    </Alert>
  )
}

/** Makes the first call in the sandbox for the company, and shows request and response. */
function TryIt() {
  const params = useCompanyParams()
  const may = useMay(params.company_id)
  const [path, setPath] = useState<'/organizations' | '/locations'>('/locations')
  const make = useAct('makeFirstCall')
  return (
    <Section title="Try it here" description="The sandbox sends the request for your company and shows the response.">
      {may('first_call.make') ? (
        <Group>
          <SegmentedControl
            aria-label="Path"
            value={path}
            onChange={(value) => setPath(value === '/organizations' ? value : '/locations')}
            data={['/locations', '/organizations']}
          />
          <Button loading={make.isPending} onClick={() => make.mutate({ params, body: { path } })}>
            Send request
          </Button>
        </Group>
      ) : (
        <WhoMay action="first_call.make" what="send a request from here" />
      )}
      <ErrorNote error={make.error} />
      {make.data && (
        <Stack role="status">
          <Snippet label="Request" code={`${make.data.method} ${make.data.url}\nAuthorization: Bearer <token>`} />
          <Snippet
            label={`Response: ${make.data.status}, after ${make.data.duration_ms} ms`}
            code={indentedJson(make.data.body)}
          />
        </Stack>
      )}
    </Section>
  )
}
