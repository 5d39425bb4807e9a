import { isBuiltin } from 'node:module'
import { build } from 'esbuild'

/**
 * What programs of this repository load: these files and all that they import, as paths from the root, and for each workspace the packages
 * of others that its files import. Both sorted. An import of types alone does not count.
 */
export async function reachableSources(root: string, programs: readonly string[]): Promise<ReachableSources> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...programs],
    bundle: true,
    write: false,
    outdir: 'out',
    format: 'esm',
    platform: 'node',
    metafile: true,
    logLevel: 'silent',
    plugins: [
      {
        name: 'packages of others',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@bridgework/') || isBuiltin(path)
              ? undefined
              : { path, external: true },
          )
        },
      },
    ],
  })
  const files = Object.keys(metafile.inputs).sort()
  const packages = new Map<string, Set<string>>()
  for (const file of files) {
    const workspace = workspaceOf(file)
    const names = packages.get(workspace) ?? new Set<string>()
    packages.set(workspace, names)
    for (const { path, external } of metafile.inputs[file]?.imports ?? []) {
      if (external && !isBuiltin(path)) names.add(packageOf(path))
    }
  }
  return { files, packages: new Map([...packages].map(([workspace, names]) => [workspace, [...names].sort()])) }
}

export type ReachableSources = { files: string[]; packages: Map<string, string[]> }

/** "apps/server" of "apps/server/src/main.ts". */
function workspaceOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

/** "@fastify/static" of "@fastify/static/x.js". */
function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/')
}
