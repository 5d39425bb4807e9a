/** Of a `package-lock.json`: what is installed where, and what it needs. */
export type LockFile = { packages: Record<string, LockedPackage> }

type LockedPackage = {
  version?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/**
 * The folders of `node_modules` that these packages of a workspace need at run time: they themselves and what they depend on, without
 * optional peers. Sorted. What is optional and for another kind of machine is among them.
 */
export function productionPackages(lock: LockFile, workspace: string, names: readonly string[]): string[] {
  const found = new Set<string>()
  const open = names.map((name) => ({ from: workspace, name, isOptional: false }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const place = placeOf(lock, next.from, next.name)
    if (place === null && !next.isOptional) throw new Error(`package-lock.json lacks ${next.name} of ${next.from}.`)
    if (place === null || found.has(place)) continue
    found.add(place)
    open.push(...needsOf(lock, place))
  }
  return [...found].sort()
}

function needsOf(lock: LockFile, place: string) {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = lock.packages[place] ?? {}
  const needed = (names: object | undefined, isOptional: boolean) =>
    Object.keys(names ?? {}).map((name) => ({ from: place, name, isOptional }))
  return [
    ...needed(dependencies, false),
    ...needed(optionalDependencies, true),
    ...needed(peerDependencies, false).filter(({ name }) => !peerDependenciesMeta?.[name]?.optional),
  ]
}

/** Where Node finds a package from a folder: in the nearest `node_modules` upwards. */
function placeOf(lock: LockFile, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock.packages[path]) return path
    if (folder === '') return null
  }
}
