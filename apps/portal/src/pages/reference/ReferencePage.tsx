import { Accordion, Badge, Box, Code, Container, Group, Stack, Text, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { read } from '../../api/query.ts'
import { Brand, SandboxBadge } from '../../shell/Brand.tsx'
import { ColorSchemeButton } from '../../shell/ColorSchemeButton.tsx'
import { PageLink } from '../../ui/links.tsx'
import { MarkdownText } from '../../ui/MarkdownText.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { useUrlState } from '../../ui/state/url-state.ts'
import { OperationPanel } from './OperationPanel.tsx'
import { openApiQuery, operationsOf } from './openapi.ts'
import type { ReferenceSearch } from './reference-search.ts'

/** The reference of the vendor API, from the document that programs get. In the sandbox its requests have a token already. */
export function ReferencePage() {
  const { data: document } = useSuspenseQuery(openApiQuery)
  const { data: sandbox } = useSuspenseQuery(read('getReferenceToken'))
  const [{ operation: open }, change] = useUrlState<ReferenceSearch>()
  const [token, setToken] = useState(sandbox.token ?? '')
  const operations = useMemo(() => operationsOf(document), [document])
  const baseUrl = document.servers[0]?.url ?? ''
  return (
    <Box mih="100vh" bg="light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-8))">
      <Container size={1000} py="lg">
        <Group component="header" justify="space-between" mb="lg">
          <Group gap="sm">
            <Brand />
            <SandboxBadge />
          </Group>
          <Group gap="sm">
            <PageLink to="/" size="sm">
              Portal
            </PageLink>
            <ColorSchemeButton />
          </Group>
        </Group>
        <main>
          <PageHeader title={document.info.title} description={`Version ${document.info.version}`} />
          <Stack>
            <Section title="Start">
              <MarkdownText text={document.info.description} />
              <Text size="sm">
                Base URL: <Code style={{ overflowWrap: 'anywhere' }}>{baseUrl}</Code>. The document for programs:{' '}
                <a href="/docs/json">JSON</a>, <a href="/docs/yaml">YAML</a>.
              </Text>
              <TextInput
                label="Token for the requests of this page"
                description={
                  sandbox.token
                    ? 'The sandbox filled in the token of its demo vendor. It stays in this page.'
                    : 'Get one with the first operation below. It stays in this page.'
                }
                value={token}
                onChange={(event) => setToken(event.currentTarget.value.trim())}
                autoComplete="off"
                spellCheck={false}
                maw={620}
              />
            </Section>
            {document.tags.map((tag) => (
              <Section key={tag.name} title={tag.name} description={tag.description}>
                <Accordion
                  order={3}
                  keepMounted={false}
                  value={open ?? null}
                  onChange={(id) => change({ operation: id ?? undefined })}
                >
                  {operations
                    .filter((each) => each.tag === tag.name)
                    .map((each) => (
                      <Accordion.Item key={each.id} value={each.id}>
                        <Accordion.Control>
                          <Group component="span" gap="sm">
                            <Badge variant="default" miw={58}>
                              {each.method}
                            </Badge>
                            <Text component="span" size="sm" fw={500}>
                              {each.summary}
                            </Text>
                          </Group>
                        </Accordion.Control>
                        <Accordion.Panel>
                          {open === each.id && <OperationPanel operation={each} baseUrl={baseUrl} token={token} />}
                        </Accordion.Panel>
                      </Accordion.Item>
                    ))}
                </Accordion>
              </Section>
            ))}
          </Stack>
        </main>
      </Container>
    </Box>
  )
}
