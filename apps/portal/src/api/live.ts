import { type LiveEvent, livePath, portalApiPath, topicsOf } from '@bridgework/contract/portal'
import { queryClient } from './query-client.ts'

/** The service says something every 20 s: after so long without, the connection is dead. */
const silentMs = 45_000
/** When a page comes again, and up to twice as late, so that the pages of a service that restarts do not come at once. */
const againMs = { ended: 500, unreachable: 3_000, refused: 20_000 }

let followed: { tenantId: string; leave: () => void } | null = null
let isOpen = false

/** Whether the service tells this page what changed. */
export function isLive(): boolean {
  return isOpen
}

/**
 * Reads again what changed for a tenant, as soon as the service says so. One tenant at a time. A page that is not seen listens to nothing: a browser
 * has six connections to a server, for all its tabs.
 */
export function follow(tenantId: string): void {
  if (followed?.tenantId === tenantId) return
  followed?.leave()
  const leaving = new AbortController()
  followed = { tenantId, leave: () => leaving.abort() }
  void listenOn(tenantId, leaving.signal)
}

async function listenOn(tenantId: string, left: AbortSignal): Promise<void> {
  for (let isFirst = true; !left.aborted; isFirst = false) {
    await whenVisible(left)
    const how = await listen(tenantId, left, () => {
      // What changed before is not told again.
      if (!isFirst) void queryClient.invalidateQueries()
    })
    isOpen = false
    if (left.aborted) return
    if (document.visibilityState === 'visible') await pause(againMs[how] * (1 + Math.random()), left)
  }
}

/** Listens until the stream ends, the page is hidden, or nothing is heard. */
async function listen(tenantId: string, left: AbortSignal, onOpen: () => void): Promise<keyof typeof againMs> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  const onHidden = () => document.visibilityState === 'hidden' && stop()
  let silence = setTimeout(stop, silentMs)
  document.addEventListener('visibilitychange', onHidden)
  left.addEventListener('abort', stop)
  try {
    const url = `${portalApiPath}${livePath}?${new URLSearchParams({ tenant_id: tenantId })}`
    const response = await fetch(url, { signal: stopping.signal, headers: { Accept: 'text/event-stream' } })
    if (!response.ok || response.body === null) return 'refused'
    isOpen = true
    onOpen()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(silence)
      silence = setTimeout(stop, silentMs)
      const events = `${text}${part.value}`.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) if (event.startsWith('data: ')) readAgain(JSON.parse(event.slice('data: '.length)))
    }
    return 'ended'
  } catch {
    return isOpen || stopping.signal.aborted ? 'ended' : 'unreachable'
  } finally {
    clearTimeout(silence)
    document.removeEventListener('visibilitychange', onHidden)
    left.removeEventListener('abort', stop)
  }
}

/** Reads again what the page shows of these topics, and marks the rest for when it is shown. */
function readAgain({ topics }: LiveEvent): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [route] }) =>
      topicsOf(String(route))?.topics.some((topic) => topics.includes(topic)) ?? false,
  })
}

function whenVisible(left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible' && !left.aborted) return
      document.removeEventListener('visibilitychange', look)
      left.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    left.addEventListener('abort', look)
    look()
  })
}

function pause(ms: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      left.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    left.addEventListener('abort', done)
    if (left.aborted) done()
  })
}
