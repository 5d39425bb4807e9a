import type { TestContext } from 'node:test'
import { type LiveEvent, livePath, portalApiPath } from '@bridgework/contract/portal'

/** Opens the stream of a page, and ends it with the test. Resolves once it is answered. */
export async function openStream(
  t: Pick<TestContext, 'after'>,
  { url, cookie, tenantId }: { url: string; cookie: string; tenantId: string },
) {
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const response = await fetch(`${url}${portalApiPath}${livePath}?tenant_id=${tenantId}`, {
    headers: { cookie },
    signal: leaving.signal,
  })
  const events: { topics: LiveEvent['topics']; atMs: number }[] = []
  const listeners = new Set<() => void>()
  let isOver = false
  const read = async () => {
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = `${text}${chunk}`.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks.filter((each) => each.startsWith('data: '))) {
        events.push({ ...(JSON.parse(block.slice('data: '.length)) as LiveEvent), atMs: performance.now() })
      }
      for (const listener of listeners) listener()
    }
  }
  const over = read()
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true
      for (const listener of listeners) listener()
    })
  /** Waits for an event with the topic, the one that came first; fails when the stream ends before. */
  const hears = (topic: string, from = 0) =>
    new Promise<{ topics: LiveEvent['topics']; atMs: number }>((resolve, reject) => {
      const listen = () => {
        const found = events.slice(from).find(({ topics }) => topics.some((each) => each === topic))
        if (!found && !isOver) return
        listeners.delete(listen)
        if (found) resolve(found)
        else reject(new Error(`the stream ended without ${topic}`))
      }
      listeners.add(listen)
      listen()
    })
  return { response, events, hears, over, leave: () => leaving.abort(), isOver: () => isOver }
}
