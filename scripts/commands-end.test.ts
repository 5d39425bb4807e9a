import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../apps/server/src/testing/test-port.ts'
import { listProcesses } from './process-list.mjs'

const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

const postgres = /\/postgres -D /
const mariadb = /\/mariadbd /

/** What each command starts by the time when it is killed: by then it has begun its work. */
const commands: Readonly<Record<string, { args?: string[]; starts: readonly RegExp[] }>> = {
  start: { starts: [postgres, /agent\/src\/demo\/main\.ts/] },
  test: { args: ['scripts/test-endless.ts'], starts: [postgres, mariadb, /^sleep 86400/] },
  operator: { args: ['agent', 'list'], starts: [postgres] },
  agent: { args: ['run', '--config', 'agent.json'], starts: [/agent\/src\/main\.ts/] },
  screenshots: { starts: [/--headless/] },
  bench: { starts: [postgres] },
  'bench:ingest': { starts: [postgres] },
  'bench:filters': { starts: [postgres] },
  'bench:office': { starts: [mariadb] },
  'bench:mirror': { starts: [postgres] },
  'bench:scale': { starts: [postgres] },
  'bench:changes': { starts: [postgres] },
  soak: { args: ['F01'], starts: [postgres] },
  mutate: { args: ['--sample', '1'], starts: [postgres] },
}

/** `npm`: what a supervisor or an editor ends; `program`: the first process that npm started. */
type Blow = { to: 'npm' | 'program'; signal: NodeJS.Signals }
const killOfNpm: Blow = { to: 'npm', signal: 'SIGKILL' }
const otherBlows: readonly Blow[] = [
  { to: 'npm', signal: 'SIGTERM' },
  { to: 'npm', signal: 'SIGHUP' },
  { to: 'program', signal: 'SIGKILL' },
]

test('npm starts each of our programs without a shell between, and with a guard', () => {
  const unguarded = Object.entries(scripts).filter(
    ([, line]) => !/\bexec node (--\S+ )*scripts\/command\.mjs /.test(line),
  )
  // These end by themselves, and start nothing that goes on.
  assert.deepEqual(
    unguarded.map(([name]) => name),
    ['check', 'format'],
  )
  const tried = Object.keys(commands).flatMap((name) => [`pre${name}`, name])
  const others = ['check', 'precheck', 'format', 'release', 'prerelease', 'release:verify', 'prerelease:verify']
  assert.deepEqual(Object.keys(scripts).sort(), [...tried, ...others].sort())
})

test('K54: nothing of a command goes on when npm is killed', { concurrency: 3 }, async (t) => {
  await Promise.all(Object.keys(commands).map((name) => t.test(name, (t) => strike(t, name, killOfNpm))))
})

test('K54: nor when npm is asked to end or loses its terminal, nor when its program is killed', {
  concurrency: 3,
}, async (t) => {
  const cases = ['start', 'test', 'bench:office', 'operator'].flatMap((name) =>
    otherBlows.map((blow) => ({ name, blow })),
  )
  await Promise.all(
    cases.map(({ name, blow }) => t.test(`${name}: ${blow.signal} of ${blow.to}`, (t) => strike(t, name, blow))),
  )
})

test('a program that is busy ends with npm, and what it waits for', async (t) => {
  const program = `const { spawnSync } = require('node:child_process')
    spawnSync('sleep', ['86402'])`
  const started = guarded(t, program)
  await started.seen(/^sleep 86402/)
  started.process.kill('SIGKILL')
  await started.ended()
})

test('what a program left behind, and what hears no signal, ends after it', async (t) => {
  const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 60_000)`
  const program = `const { spawn } = require('node:child_process')
    const alone = { cwd: '/', detached: true, env: {}, stdio: 'ignore' }
    spawn('/bin/sh', ['-c', 'sleep 86403 & sleep 2'], alone)
    spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}, 'deaf'], alone)
    setTimeout(() => process.exit(), 3_000)`
  const started = guarded(t, program)
  await started.seen(/^sleep 86403/)
  await started.seen(/ deaf$/)
  await started.ended()
})

test('a command whose npm ended before it began ends, too', async (t) => {
  const program = 'setInterval(() => {}, 60_000)'
  const started = guarded(t, program, '(sleep 1; exec "$0" "$@") &', { npm_node_execpath: process.execPath })
  await started.seen(/program\.cjs/)
  await started.ended()
})

test('a database that another command started goes on when an operator command is killed', async (t) => {
  const place = await someInstallation(t)
  const server = begin(t, 'npm', ['start'], place.env)
  for (const pattern of [postgres, /agent\/src\/demo\/main\.ts/]) await server.seen(pattern)
  const operator = begin(t, 'npm', ['run', 'operator', '--', 'agent', 'list'], place.env)
  await operator.seen(/apis\/operator\/main\.ts/)
  operator.process.kill('SIGKILL')
  await operator.ended()
  await sleep(2_000)

  const second = begin(t, 'npm', ['run', 'operator', '--', 'agent', 'list'], place.env)
  const [code] = await once(second.process, 'close')
  assert.equal(code, 0, second.text())
  server.process.kill('SIGTERM')
  await server.ended()
})

/** Starts a command in a group of its own, ends it in this way once it works, and fails unless all of it ends and the port is free. */
async function strike(t: TestContext, name: string, { to, signal }: Blow): Promise<void> {
  const { args = [], starts } = commands[name] ?? assert.fail(name)
  const { env, port, folder } = await someInstallation(t)
  const inFolder = args.map((argument) => (argument === 'agent.json' ? join(folder, argument) : argument))
  const begun = async () => {
    const started = begin(t, 'npm', ['run', name, '--', ...inFolder], env)
    for (const pattern of starts) await started.seen(pattern)
    // The guard looks now and then: what begins and is left between two looks it cannot know.
    await sleep(100)
    const program = [...started.tree()].find(([, text]) => text.includes('scripts/command.mjs'))?.[0]
    return { started, program }
  }
  let { started, program } = await begun()
  // A short command may have done its work before this process, on a busy machine, looked again.
  for (let tries = 1; program === undefined && started.process.exitCode === 0 && tries < 5; tries++)
    ({ started, program } = await begun())
  assert.ok(program !== undefined && started.process.pid !== undefined, started.text())

  process.kill(to === 'npm' ? started.process.pid : program, signal)

  await started.ended()
  const listener = createServer().listen(port, '127.0.0.1')
  await once(listener, 'listening')
  listener.close()
}

/** Settings under which a command of this clone disturbs no other: a data folder and a port of its own, and an agent that reaches nothing. */
async function someInstallation(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'bwc-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  // As root, PostgreSQL runs as an account that must be able to pass through.
  chmodSync(folder, 0o711)
  const port = await freePort()
  const agent = {
    server_url: 'http://127.0.0.1:9',
    organization_id: '1',
    agent_id: '1',
    agent_key: 'none',
    state_path: join(folder, 'state.sqlite'),
    database: { host: '127.0.0.1', port: 9, user: 'none', password: 'none', name: 'none' },
  }
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(agent), { mode: 0o600 })
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TMPDIR: folder,
    BRIDGEWORK_DATA_DIR: join(folder, 'data'),
    BRIDGEWORK_PORT: String(port),
  }
  return { folder, port, env }
}

/** A program of these lines of CommonJS, guarded as npm's are, under a shell that can be killed. */
function guarded(t: TestContext, lines: string, shell = '"$0" "$@" & wait', env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bwc-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program.cjs')
  writeFileSync(program, lines)
  const command = join(root, 'scripts/command.mjs')
  return begin(t, '/bin/sh', ['-c', shell, process.execPath, command, program], { PATH: process.env.PATH, ...env })
}

/**
 * Starts a program and looks after all that it starts: what descends from it, also when its own parent has gone since, and what has its
 * environment. `ended` fails when some of it still runs after half a minute.
 */
function begin(t: TestContext, program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const mark = `BRIDGEWORK_TEST_TREE=${randomUUID()}`
  const folder = mkdtempSync(join(tmpdir(), 'bwo-'))
  const output = join(folder, 'output')
  const file = openSync(output, 'w')
  const [name = '', value] = mark.split('=')
  const child = spawn(program, args, {
    cwd: root,
    detached: true,
    env: { ...env, [name]: value },
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  const known = new Map<number, string>()
  /** Processes of others, by when they began: a process keeps the environment that it has once there is one. */
  const foreign = new Map<number, string>()
  t.after(() => {
    for (const id of running().keys()) killIfThere(id)
    rmSync(folder, { recursive: true, force: true })
  })

  /** What runs of it now, with its command line. */
  function running(): Map<number, string> {
    const all = listProcesses()
    for (const [id, began] of known) if (all.get(id)?.began !== began) known.delete(id)
    for (let before = -1; before < known.size; ) {
      before = known.size
      for (const [id, { parent, began }] of all)
        if (id === child.pid || known.has(parent) || isMarked(id, began)) known.set(id, began)
    }
    return new Map([...known.keys()].map((id) => [id, textOf(id, 'cmdline').replaceAll('\0', ' ').trim()]))
  }

  function isMarked(id: number, began: string): boolean {
    if (foreign.get(id) === began) return false
    const environment = textOf(id, 'environ')
    const isOurs = environment.includes(mark)
    // Empty while a program is being started.
    if (!isOurs && environment !== '') foreign.set(id, began)
    return isOurs
  }

  const until = async (what: string, withinMs: number, isDone: () => boolean) => {
    for (const endMs = Date.now() + withinMs; !isDone(); await sleep(100)) {
      if (Date.now() > endMs) assert.fail(`${what}. Running: ${JSON.stringify([...running()])}. It said: ${text()}`)
    }
  }
  const text = () => readFileSync(output, 'utf8')
  return {
    process: child,
    text,
    tree: running,
    seen: (pattern: RegExp) =>
      until(`No ${pattern} was started`, 180_000, () => [...running().values()].some((line) => pattern.test(line))),
    ended: () => until('Not all of it ended', 30_000, () => running().size === 0),
  }
}

function textOf(id: number, name: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

function killIfThere(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
