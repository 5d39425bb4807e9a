import type { TestContext } from 'node:test'
import pg from 'pg'
import type { TestWorld } from '../../../testing/test-world.ts'

/** The names of the statements that `ask` sends, in their order. A process also reads its signing keys twice a second, which is no part of it. */
export async function statementsOf(t: TestContext, world: TestWorld, ask: () => Promise<unknown>): Promise<string[]> {
  const asked = t.mock.method(world.pool, 'query')
  try {
    await ask()
  } finally {
    asked.mock.restore()
  }
  const statements = asked.mock.calls.map(({ arguments: [first] }) => first as string | { name?: string; text: string })
  return statements.flatMap((statement) => {
    const [name, text] = typeof statement === 'string' ? ['', statement] : [statement.name ?? '', statement.text]
    return /\bfrom signing_key\b/.test(text) ? [] : [name === '' ? text : name]
  })
}

/** The names of all prepared statements that this process sends meanwhile, whatever connection takes them. */
export async function namedStatementsOf(t: TestContext, ask: () => Promise<unknown>): Promise<string[]> {
  const sent = t.mock.method(pg.Client.prototype, 'query')
  try {
    await ask()
  } finally {
    sent.mock.restore()
  }
  return sent.mock.calls.flatMap(({ arguments: [first] }) => (first as unknown as { name?: string }).name ?? [])
}
