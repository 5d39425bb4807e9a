import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { paste } from './test-newcomer.ts'

const root = join(import.meta.dirname, '../../../../..')

/** In the order in which a vendor reads them: the first one sets what the others use. */
const pages = [
  'first-sync',
  'staying-current',
  'freshness',
  'handling-removals',
  'filters-and-fields',
  'limits',
  'moving-from-another-api',
  'changes',
  'ask-your-mirror',
]

/** Ends the program in the background when it has said twice that the copy is current. Its exit code is then 130. */
const endWatch = `
  for ((tries = 0; tries < 200; tries++)); do
    [ "$(grep -c 'datasets are current' said)" -lt 2 ] || break
    sleep 0.1
  done
  kill -INT $!
  wait $! || [ $? = 130 ]
  [ "$(grep -c 'datasets are current' said)" -ge 2 ]`

/** A block of commands, and the block of JSON below it in the same section, which shows their answer. */
type Step = { page: string; commands: string; shown: unknown }

/** Where a reader has the command from: the clone, or the package that the service hands out. */
export type ReaderPlace = 'In a clone' | 'On any other computer'

/**
 * Runs every command of the vendors' guides in one shell against a sandbox, and compares each JSON answer that a page shows with the real
 * one: it must have the same members. Every command must succeed. The folder is a clone whose sandbox runs, or an empty one where the
 * client is installed from the service. The sandbox changes every few seconds, which ends what waits for a change: a request has 20 s, and a
 * command with --watch ends as with Ctrl-C when its copy is current for the second time.
 */
export async function runVendorGuides(
  sandbox: { port: number; dataDir: string },
  place: ReaderPlace,
): Promise<{ commands: number }> {
  const home = mkdtempSync(join(tmpdir(), 'bridgework-guides-'))
  const steps = [...installSteps(place), ...pages.flatMap((page) => readSteps(page, pageText(page)))]
  const script = [
    'set -eo pipefail',
    `cd '${home}'`,
    'curl() { command curl --fail-with-body --max-time 20 "$@"; }',
    'bridgework() { case " $* " in *" --watch "*) watch "$@";; *) command bridgework "$@";; esac; }',
    `watch() { : > said; command bridgework "$@" 2> said & ${endWatch}\n}`,
    ...steps.map(({ commands }, index) => `printf '\\n=== ${index}\\n'\n${commands}`),
  ].join('\n')
  // What a reader has beside the sandbox: Node, and for global commands a folder of their own. Of the registry nothing is needed.
  const env = {
    PATH: [join(home, 'npm/bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    npm_config_prefix: join(home, 'npm'),
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_fetch_retries: '0',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  }
  try {
    if (place === 'In a clone') {
      symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
      symlinkSync(sandbox.dataDir, join(home, '.bridgework'))
    }
    const here = script
      .replaceAll('http://localhost:8080', `http://localhost:${sandbox.port}`)
      .replaceAll(' .bridgework/', place === 'In a clone' ? ' .bridgework/' : ` ${sandbox.dataDir}/`)
    const { stdout } = await paste(here, env)
    const answers = stdout.split(/^=== \d+\n/m).slice(1)
    assert.equal(answers.length, steps.length)
    for (const [index, { page, commands, shown }] of steps.entries()) {
      if (shown === undefined) continue
      const missing = membersOf(shown).filter((member) => !membersOf(JSON.parse(answers[index] ?? '')).includes(member))
      assert.deepEqual(missing, [], `${page}: the answer to ${commands} has these members`)
    }
    return { commands: steps.length }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Of the page on installing: the section for this place, and outside of a clone the one for a project too. */
function installSteps(place: ReaderPlace): Step[] {
  const headings = place === 'In a clone' ? [place] : [place, 'In your project']
  const sections = pageText('install-the-client').split(/^## /m)
  return headings.flatMap((heading) => {
    const section = sections.find((each) => each.startsWith(`${heading}\n`)) ?? ''
    const steps = readSteps('install-the-client', section)
    assert.ok(steps.length > 0, heading)
    return steps
  })
}

function pageText(page: string): string {
  return readFileSync(join(root, 'docs/guides', `${page}.md`), 'utf8')
}

function readSteps(page: string, text: string): Step[] {
  const blocks = [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)]
  return blocks.flatMap((block, index) => {
    const [whole, , kind, body = ''] = block
    if (kind !== 'sh') return []
    const next = blocks[index + 1]
    const isAnswer = next?.[2] === 'json' && !/^#+ /m.test(text.slice(block.index + whole.length, next.index))
    return [{ page, commands: body, shown: isAnswer ? JSON.parse(next[3] ?? '') : undefined }]
  })
}

/** The paths of all members of a value; those of a list's items without their positions. */
function membersOf(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [path]
  if (Array.isArray(value)) return value.flatMap((item) => membersOf(item, `${path}[]`))
  return Object.entries(value).flatMap(([name, member]) => [`${path}.${name}`, ...membersOf(member, `${path}.${name}`)])
}
