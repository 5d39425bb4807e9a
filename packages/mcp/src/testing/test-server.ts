import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const program = join(import.meta.dirname, '../main.ts')

/** The answer of a tool: what is said of it, and its rows. */
export type ToolAnswer = {
  isError: boolean
  text: string
  about: Record<string, unknown>
  rows: Record<string, unknown>[]
}

/** A server as an assistant's program starts it: a process that speaks over stdio. */
export async function startServer(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string>,
  command = program,
) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, ...args],
    env: { HOME: '/nowhere', ...env },
  })
  t.after(() => client.close())
  await client.connect(transport)
  return {
    client,
    async call(name: string, asked: Record<string, unknown> = {}): Promise<ToolAnswer> {
      const { content, isError = false } = await client.callTool({ name, arguments: asked })
      const [part] = content
      const text = part?.type === 'text' ? part.text : ''
      if (isError) return { isError, text, about: {}, rows: [] }
      const [about, ...rows] = text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
      return { isError, text, about: about ?? {}, rows }
    },
  }
}
