import type { FastifyInstance } from 'fastify'

/** Which methods a path answers. Fastify's router only says that it has no route for a path and a method together. */
export type RouteTable = {
  /** The pattern and the methods of a path that a route knows, whatever the method; null when none does. `url` as it came. */
  find: (url: string) => { route: string; methods: string[] } | null
}

/** Watches the routes that are added to this instance, and to the plugins inside it, from now on. */
export function watchRoutes(app: FastifyInstance): RouteTable {
  const byRoute = new Map<string, { segments: string[]; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = byRoute.get(url) ?? { segments: url.split('/'), methods: new Set<string>() }
    for (const each of [method].flat()) known.methods.add(each)
    byRoute.set(url, known)
  })

  return {
    find(url) {
      const segments = pathSegments(url)
      if (segments === null) return null
      const matches = [...byRoute].filter(([, route]) => matchesSegments(route.segments, segments))
      const [first] = matches
      if (!first) return null
      return { route: first[0], methods: [...new Set(matches.flatMap(([, route]) => [...route.methods]))].sort() }
    },
  }
}

/** The decoded segments of a request target, also of one in absolute form; null when it cannot be decoded. */
function pathSegments(url: string): string[] | null {
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return null
  }
}

function matchesSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  const open = pattern.at(-1) === '*'
  if (open ? segments.length < pattern.length : segments.length !== pattern.length) return false
  return pattern.every((part, index) => {
    const segment = segments[index] ?? ''
    if (part === '*' && index === pattern.length - 1) return true
    return part.startsWith(':') ? segment !== '' : part === segment
  })
}
