import { aboutError } from '@bridgework/contract/portal'
import { Anchor, Badge, Code, Stack, Tabs, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Snippet } from '../../ui/Copy.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { MarkdownText } from '../../ui/MarkdownText.tsx'
import type { Operation } from './openapi.ts'
import { TryRequest } from './TryRequest.tsx'

/** All about one operation: what it does, a form that sends it, code that calls it, and what it answers. */
export function OperationPanel({
  operation,
  baseUrl,
  token,
}: {
  operation: Operation
  baseUrl: string
  token: string
}) {
  const { method, path, description, isPreview, samples, responses, attributes, example } = operation
  return (
    <Stack gap="lg">
      <div>
        <Code fz="sm" style={{ overflowWrap: 'anywhere' }}>
          {method} {path}
        </Code>{' '}
        {isPreview && <Badge variant="default">Preview</Badge>}
      </div>
      {description && <MarkdownText text={description} />}
      <Part title="Try it">
        <TryRequest operation={operation} baseUrl={baseUrl} token={token} />
      </Part>
      {samples.length > 0 && (
        <Part title="Code">
          <Tabs defaultValue={samples[0]?.label ?? ''} keepMounted={false}>
            <Tabs.List mb="sm">
              {samples.map(({ label }) => (
                <Tabs.Tab key={label} value={label}>
                  {label}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {samples.map(({ label, source }) => (
              <Tabs.Panel key={label} value={label}>
                <Snippet label={`${operation.summary} with ${label}`} code={source} />
              </Tabs.Panel>
            ))}
          </Tabs>
        </Part>
      )}
      <Part title="Answers">
        <DataTable
          caption={`Answers of ${operation.summary}`}
          rows={responses}
          rowKey={({ status }) => status}
          columns={[
            { header: 'Status', cell: ({ status }) => <Code>{status}</Code> },
            { header: 'When', cell: ({ description }) => <Text size="sm">{description}</Text> },
            {
              header: 'Code',
              cell: ({ codes }) =>
                codes.length === 0
                  ? '–'
                  : codes.map((code) => (
                      <div key={code}>
                        <Anchor href={aboutError(code)} aria-label={`About ${code}`}>
                          <Code>{code}</Code>
                        </Anchor>
                      </div>
                    )),
            },
          ]}
        />
      </Part>
      <Part title="Attributes of the answer 200">
        <DataTable
          caption={`Attributes of ${operation.summary}`}
          rows={attributes}
          rowKey={({ path }) => path}
          columns={[
            { header: 'Attribute', cell: ({ path }) => <Code style={{ overflowWrap: 'anywhere' }}>{path}</Code> },
            {
              header: 'Type',
              cell: ({ type }) => (
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {type}
                </Text>
              ),
            },
            { header: 'Description', cell: ({ description }) => <Text size="sm">{description}</Text> },
          ]}
        />
        {example && <Snippet label="Example" code={example} />}
      </Part>
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm">
      <Title order={4} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  )
}
