import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const sources = join(import.meta.dirname, '../src')

/** A route as the sources of the router define it. `name`: the variable that holds it; `parent`: that of the route above. */
type Route = { file: string; name: string; parent: string; path: string; isPage: boolean; component: string | null }

/** A page's address with its parameters, and the files whose code shows it: its own and those of the frames around it, as paths from `src`. */
export type PortalPage = { address: string; components: string[] }

/**
 * The address of every page of the portal, with its parameters (`/company/$company_id/keys`), read from the sources of the router: a page that is
 * added there is walked by the tests and shown in the pictures, and cannot be forgotten. Throws for a route that is written in another form.
 */
export function pageAddresses(): string[] {
  return listPages().map(({ address }) => address)
}

/** Every page by its address. `from`: the folder with the sources, for those of another version. */
export function listPages(from = sources): PortalPage[] {
  const files = ['router.tsx', ...globSync('routes/*.tsx', { cwd: from })]
  const routes = files.flatMap((file) => routesIn(file, readFileSync(join(from, file), 'utf8')))
  const chainOf = (route: Route): Route[] => {
    const parents = routes.filter(({ name }) => name === route.parent)
    const parent = parents.find(({ file }) => file === route.file) ?? parents[0]
    return [...(parent ? chainOf(parent) : []), route]
  }
  const pages = new Map<string, PortalPage>()
  for (const route of routes.filter(({ isPage }) => isPage)) {
    const chain = chainOf(route)
    const address = chain.map(({ path }) => (path === '/' ? '' : path)).join('') || '/'
    const components = chain.map(({ component }) => component).filter((each) => each !== null)
    pages.set(address, { address, components })
  }
  return [...pages.values()].sort((one, other) => (one.address < other.address ? -1 : 1))
}

function routesIn(file: string, source: string): Route[] {
  const blocks = source.split(/^(?=(?:export )?const \w+ = createRoute\()/m).slice(1)
  const written = source.match(/createRoute\(/g)?.length ?? 0
  if (blocks.length !== written) throw new Error(`${file}: a route is not written as "const name = createRoute({"`)
  return blocks.map((block) => {
    const name = /const (\w+) = createRoute\(/.exec(block)?.[1]
    const parent = /getParentRoute: \(\) => (\w+)/.exec(block)?.[1]
    const path = /\bpath: '([^']+)'/.exec(block)?.[1]
    const isFrame = /\bid: '/.test(block)
    if (!name || !parent || (!path && !isFrame)) throw new Error(`${file}: the route ${name} cannot be read`)
    const imported = /\bcomponent: lazy\(\(\) => import\('([^']+)'\)/.exec(block)?.[1]
    const component = imported ? join(dirname(file), imported) : null
    return { file, name, parent, path: path ?? '', isPage: /\bcomponent: /.test(block) && !isFrame, component }
  })
}

/** The address with the ids of a world. Throws for a parameter that the world has no id for. */
export function fillAddress(address: string, ids: Readonly<Record<string, string>>): string {
  return address.replace(/\$(\w+)/g, (_all, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`${address} needs an id for ${name}: give it one where its pages are opened`)
    return id
  })
}

/** The pages below an address, filled with the ids of a world; without those that `except` names because they need another state. */
export function pagesBelow(
  start: string,
  ids: Readonly<Record<string, string>>,
  except: readonly string[] = [],
): string[] {
  const pages = pageAddresses().filter((address) => address === start || address.startsWith(`${start}/`))
  return pages.filter((address) => !except.includes(address)).map((address) => fillAddress(address, ids))
}
