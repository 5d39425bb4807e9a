import { Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Snippet } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import type { Operation } from './openapi.ts'

/** What is shown of an answer: a page may have megabytes. */
const shownMax = 20_000

type Sent = { status: number; ms: number; text: string }

/** A form with every parameter of an operation, which sends it to this service with the token of the page. */
export function TryRequest({ operation, baseUrl, token }: { operation: Operation; baseUrl: string; token: string }) {
  const { fields, body } = operation
  const form = useForm({
    mode: 'uncontrolled',
    // Names such as `q[patient_id]` would be paths to the form.
    initialValues: { values: fields.map(() => ''), body: bodyOf(operation) },
    validate: {
      values: (values) =>
        fields.some(({ isRequired }, index) => isRequired && !values[index]?.trim()) ? 'missing' : null,
    },
  })
  const send = useMutation({
    mutationFn: (input: { values: string[]; body: string }) => sendRequest(operation, { ...input, baseUrl, token }),
    gcTime: 0,
  })
  return (
    <form onSubmit={form.onSubmit((input) => send.mutate(input))}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {fields.map(({ name, in: place, type, description, isRequired }, index) => (
            <TextInput
              key={name}
              label={name}
              description={`${place === 'path' ? 'Path' : 'Query'} · ${type}. ${description}`}
              required={isRequired}
              autoComplete="off"
              {...form.getInputProps(`values.${index}`)}
            />
          ))}
        </SimpleGrid>
        {body.length > 0 && (
          <Textarea
            label="Body"
            description={body.map(({ path, description }) => `${path}: ${description}`).join('. ')}
            autosize
            minRows={4}
            {...form.getInputProps('body')}
          />
        )}
        <ErrorNote error={send.error} />
        <Group>
          <Button type="submit" loading={send.isPending}>
            Send request
          </Button>
        </Group>
        <div role="status">
          {send.data && (
            <Stack gap={4}>
              <Snippet
                label={`Status ${send.data.status}, ${formatCount(send.data.ms)} ms`}
                code={send.data.text.slice(0, shownMax)}
              />
              {send.data.text.length > shownMax && (
                <Text size="sm" c="dimmed">
                  The first {formatCount(shownMax)} of {formatCount(send.data.text.length)} characters.
                </Text>
              )}
            </Stack>
          )}
        </div>
      </Stack>
    </form>
  )
}

function bodyOf({ body }: Operation): string {
  return body.length === 0 ? '' : JSON.stringify(Object.fromEntries(body.map(({ path }) => [path, ''])), null, 2)
}

/** Any status is an answer to be shown; only a server that cannot be reached is an error. */
async function sendRequest(
  { method, path, fields }: Operation,
  { values, body, baseUrl, token }: { values: string[]; body: string; baseUrl: string; token: string },
): Promise<Sent> {
  const given = fields.map((field, index) => ({ ...field, value: values[index]?.trim() ?? '' }))
  const filled = given
    .filter((field) => field.in === 'path')
    .reduce((url, { name, value }) => url.replace(`{${name}}`, encodeURIComponent(value)), path)
  const query = new URLSearchParams(
    given.filter((field) => field.in === 'query' && field.value !== '').map(({ name, value }) => [name, value]),
  )
  const begin = performance.now()
  // By its path: the page may be open under another name of this host.
  const url = `${new URL(baseUrl).pathname}${filled}${query.size > 0 ? `?${query}` : ''}`
  const answer = await fetch(url, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(method !== 'GET' && { 'Content-Type': 'application/json' }),
    },
    ...(method !== 'GET' && { body }),
    credentials: 'omit',
  })
  const text = await answer.text()
  return { status: answer.status, ms: Math.round(performance.now() - begin), text: indented(text) }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
