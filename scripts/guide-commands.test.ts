import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..')
const newcomer = 'apps/server/src/acceptance/testing/test-guides.ts'

/**
 * Every page with commands: the file that runs its blocks as they stand, and so names the page, or why none does.
 */
const pages: Record<string, { runBy: string } | { notRun: string }> = {
  'README.md': { runBy: 'apps/server/src/acceptance/newcomer.test.ts' },
  'docs/guides/install-the-client.md': { runBy: newcomer },
  'docs/guides/first-sync.md': { runBy: newcomer },
  'docs/guides/staying-current.md': { runBy: newcomer },
  'docs/guides/freshness.md': { runBy: newcomer },
  'docs/guides/handling-removals.md': { runBy: newcomer },
  'docs/guides/filters-and-fields.md': { runBy: newcomer },
  'docs/guides/limits.md': { runBy: newcomer },
  'docs/guides/moving-from-another-api.md': { runBy: newcomer },
  'docs/guides/changes.md': { runBy: newcomer },
  'docs/guides/ask-your-mirror.md': { runBy: newcomer },
  'docs/guides/analyse.md': {
    notRun: 'has an example database; packages/client runs each of its queries and what it says of roles',
  },
  'docs/guides/back-up.md': { runBy: 'apps/server/src/acceptance/testing/test-archive.ts' },
  'docs/guides/run-in-production.md': {
    notRun: 'needs root, systemd and a release; scripts/release/release.test.ts runs what the archive has',
  },
  'docs/guides/practices.md': {
    notRun: 'has an example key and file; sealed-disclosures.test.ts runs the program with real ones',
  },
  'docs/guides/operator.md': { notRun: 'has example ids; apis/operator runs every command with real ones' },
  'docs/guides/install-the-agent.md': {
    notRun: 'needs root and an Open Dental office; apps/agent/src/setup runs enroll and check',
  },
  'docs/guides/check-your-integration.md': {
    notRun: 'takes a minute for each program; integration-check.test.ts runs the client and the guide’s own program',
  },
  'docs/guides/other-languages.md': { runBy: 'packages/client/src/command/integration/integration-check.test.ts' },
  'docs/guides/drive-the-sandbox.md': {
    notRun: 'needs a token at hand; apps/server/src/apis/sandbox/routes.test.ts orders each action',
  },
  'docs/guides/sql-databases.md': { notRun: 'has example databases; apps/agent/src/sql runs enroll, check and a read' },
  'docs/guides/export-files.md': { notRun: 'has an example address and code; apps/agent/src/files runs the commands' },
  'docs/guides/audit-export.md': {
    notRun: 'needs a folder of root; apis/operator/disclosure/audit.test.ts runs each command',
  },
  'docs/guides/write-a-connector.md': { notRun: 'is tried by hand; apps/server/src/apis/ingest tests each request' },
  'docs/operate/chart.md': { notRun: 'needs a Kubernetes cluster; scripts/deploy renders the chart' },
  'docs/operate/image.md': { notRun: 'needs a container engine; scripts/deploy reads the Dockerfile' },
  'docs/decisions/mutation-tests.md': { notRun: 'takes hours' },
  'packages/client/README.md': {
    notRun: 'has example addresses; packages/client/src/package.test.ts installs the package and runs the command',
  },
  'CONTRIBUTING.md': { notRun: 'runs these tests themselves' },
}

test('every page with commands says which test runs them, or why none does', () => {
  const found = globSync('{*.md,{apps,packages,bench,docs}/**/*.md}', { cwd: root, exclude: isForeign })
  const withCommands = found.filter((page) => /^ *```sh$/m.test(read(page)))
  assert.deepEqual(withCommands.sort(), Object.keys(pages).sort())
  for (const [page, how] of Object.entries(pages)) {
    if (!('runBy' in how)) continue
    const name = page.replace(/^.*\/|\.md$/g, '')
    assert.ok(read(how.runBy).includes(name), `${how.runBy} names ${name}`)
  }
})

test('no page has a reader fetch the client by a name that anyone could register at npm', () => {
  const found = globSync('{*.md,{apps,packages,docs}/**/*.{md,ts,tsx}}', { cwd: root, exclude: isForeign })
  const fetching =
    /\bnp(x|m exec)( -y| --yes)? (@bridgework\/|bridgework)|npm (install|i|add)( -\S+| --\S+)* @?bridgework\b(?!-)/
  assert.deepEqual(
    found.filter((file) => file !== 'CHANGELOG.md' && fetching.test(read(file))),
    [],
  )
  for (const bad of ['npx bridgework login', 'npx @bridgework/client login', 'npm install @bridgework/client'])
    assert.match(bad, fetching)
})

function isForeign(name: string): boolean {
  return /node_modules|(^|\/)dist$/.test(name)
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
