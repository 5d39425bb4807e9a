import type { FastifyInstance } from 'fastify'

/** Every method and pattern of the router, read from its own printout, which leaves nothing out. */
export function listRoutes(app: FastifyInstance): string[] {
  const parents: string[] = []
  return app
    .printRoutes()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (.+?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
      if (part === '') return []
      const depth = indent.length / 4
      const pattern = `${depth === 0 ? '' : parents[depth - 1]}${part}`
      parents[depth] = pattern
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${pattern}`)
    })
}
