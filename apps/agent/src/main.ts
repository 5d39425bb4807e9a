import { existsSync, readFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { UsageError } from '@bridgework/command-line'
import { UpdateRefused } from '@bridgework/contract/signed-release'
import type { Report } from './agent-event.ts'
import { sleep } from './backoff.ts'
import { check, printFindings } from './check.ts'
import { type Options, optionText, parseCommandLine } from './command-line.ts'
import { type Config, defaultConfigPath, readConfig } from './config-file.ts'
import { confirmRestore } from './confirm-restore.ts'
import type { Connector } from './connector.ts'
import { connectorTest } from './connector-test/connector-test.ts'
import { ask } from './enroll/ask.ts'
import { askPassword } from './enroll/ask-password.ts'
import { didYouMean } from './enroll/did-you-mean.ts'
import { databaseOf, type EnrolDeps, enroll, passwordFile } from './enroll/enroll.ts'
import { askTimeZone } from './enroll/enroll-time-zone.ts'
import { filesConnector } from './files/connector.ts'
import { map } from './files/propose/map.ts'
import { type IngestClient, ingestClient } from './ingest-client.ts'
import { pinnedKey } from './launcher/pinned-key.ts'
import { reportToLauncher } from './launcher/report.ts'
import { createSelfUpdate, type SelfUpdate } from './launcher/self-update.ts'
import { openUpdates } from './launcher/updates.ts'
import { useNetworkOf } from './network/own-network.ts'
import { withSystemProxy } from './network/windows-proxy.ts'
import { openDentalConnector } from './open-dental/connector.ts'
import { type AgentDeps, uploadLimits } from './pipeline/context.ts'
import { type CycleOutcome, runCycle } from './pipeline/cycle.ts'
import type { RetryDeps } from './pipeline/retry.ts'
import { progressReport } from './progress.ts'
import { runAgent } from './run-agent.ts'
import { configure } from './setup/configure.ts'
import { findDatabaseServer } from './setup/find-open-dental.ts'
import { setUp } from './setup/setup.ts'
import { restartWindowsService } from './setup/windows-service.ts'
import { sqlConnector } from './sql/connector.ts'
import { proposeOfDatabase } from './sql/propose/propose-database.ts'
import { freeBytesOf } from './state/check-state.ts'
import { sourceMemory } from './state/source-memory.ts'
import { openState } from './state/state.ts'
import { StateUnusable } from './state/state-file.ts'
import { type StatusServer, startStatusServer } from './status/server.ts'
import { type AgentStatus, createStatus } from './status/status.ts'
import { agentVersion } from './version.ts'

const exitCodes = { good: 0, failed: 1, usage: 2, keyRefused: 3 } as const
const environmentNames = ['BRIDGEWORK_AGENT_CONFIG', 'BRIDGEWORK_AGENT_DATA_DIR', 'BRIDGEWORK_AGENT_DB_PASSWORD']

// A chunk of rows outlives the young generation, and V8 lets the old one grow to four times what is alive before it collects: the longer a
// read, the more of an office's memory would hold garbage. `memory.test.ts` fails without this, or when a Node ignores it.
setFlagsFromString('--heap-growing-percent=40')

process.exitCode = await main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(error.usage === '' ? error.message : `${error.message}\n\n${error.usage}`)
    return exitCodes.usage
  }
  if (error instanceof StateUnusable) {
    console.error(`${error.message} ${error.todo}`)
    return exitCodes.failed
  }
  // A bug. Its stack names our own lines and no data.
  console.error(error)
  return exitCodes.failed
})

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2))
  if ('print' in line) {
    console.log(line.print)
    return exitCodes.good
  }
  refuseUnknownEnvironment()
  const isRoot = process.getuid?.() === 0
  const configPath =
    optionText(line.options, 'config') ??
    process.env.BRIDGEWORK_AGENT_CONFIG ??
    defaultConfigPath({ isRoot, home: homedir(), programData: onWindows(process.env.ProgramData) })
  const asking = {
    ask: process.stdin.isTTY ? (question: string) => ask(process.stdin, process.stderr, question) : null,
    askPassword: process.stdin.isTTY
      ? (question: string) => askPassword(process.stdin, process.stderr, question)
      : null,
    print: (text: string) => console.log(text),
  }
  const enrolling: EnrolDeps = {
    ...asking,
    configPath,
    dataDir: process.env.BRIDGEWORK_AGENT_DATA_DIR ?? null,
    hostName: hostname(),
    platform: process.platform,
    passwordFromEnvironment: process.env.BRIDGEWORK_AGENT_DB_PASSWORD,
    useNetwork: (settings) => useNetworkOf(settings, process.env),
    askTimeZone: (config) => askTimeZone(ingestClient(config), connectorOf(config), asking),
  }
  switch (line.command) {
    case 'setup':
      return await setUp(withSystemProxy(line.options), {
        ...asking,
        readPassword: passwordFile,
        passwordFromEnvironment: enrolling.passwordFromEnvironment,
        folders: foldersOfPrograms(),
        findDatabaseServer,
        isEnrolled: existsSync(configPath),
        enroll: (options, password) => enroll(options, { ...enrolling, passwordFromEnvironment: password }),
        check: () => runCheck(readConfig(configPath), false),
        startService: () => (process.platform === 'win32' ? restartWindowsService() : null),
      })
    case 'configure': {
      const connect = (config: Config) => {
        useNetworkOf(config, process.env)
        return { client: ingestClient(config), connector: connectorOf(config) }
      }
      return await configure(line.options, {
        ...asking,
        configPath,
        before: readConfig(configPath),
        passwordFromEnvironment: enrolling.passwordFromEnvironment,
        connect,
        check: () => runCheck(readConfig(configPath), false),
        startService: () => (process.platform === 'win32' ? restartWindowsService() : null),
      })
    }
    case 'enroll':
      return await enroll(line.options, enrolling)
    case 'check':
      return await runCheck(readConfig(configPath), line.options.get('json') === true)
    case 'map':
      return await map(line.options, {
        print: (text) => console.log(text),
        isTerminal: process.stdout.isTTY === true,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        proposeOfDatabase: async (options) => await proposeOfDatabase(await databaseOf(options, enrolling)),
      })
    case 'connector-test':
      return await connectorTest(line.program, (text) => console.log(text))
    case 'confirm-restore': {
      const config = readConfig(configPath)
      const memory = sourceMemory(config.statePath)
      return await confirmRestore({ connector: connectorOf(config), memory, print: (text) => console.log(text) })
    }
    case 'update':
      return installUpdate(optionText(line.options, 'file'), process.env.BRIDGEWORK_AGENT_DATA_DIR)
    case 'run':
      return await run(readConfig(configPath), line.options)
  }
}

function installUpdate(file: string | null, dataDir: string | undefined): number {
  const key = pinnedKey()
  if (key === null) throw new UsageError('This build of the agent takes no updates. Install the new package.')
  if (dataDir === undefined) throw new UsageError('BRIDGEWORK_AGENT_DATA_DIR is not set. Install the new package.')
  if (file === null) throw new UsageError('--file is missing. See "bridgework-agent update --help".')
  try {
    const version = openUpdates(dataDir, key).install(readFileSync(file), agentVersion)
    console.log(`Version ${version} is installed. A running agent tries it within a minute.`)
    return exitCodes.good
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null
    if (!(error instanceof UpdateRefused) && code === null) throw error
    console.error(
      error instanceof UpdateRefused ? error.message : `The update is not installed (${code}). Nothing changed.`,
    )
    return exitCodes.failed
  }
}

/** What Windows alone has; null elsewhere. */
function onWindows<T>(value: T | null | undefined): T | null {
  return process.platform === 'win32' ? (value ?? null) : null
}

/** Where Open Dental is installed on Windows: its installer knows no other system. */
function foldersOfPrograms(): string[] {
  const { SystemDrive = 'C:' } = process.env
  const folders = [process.env['ProgramFiles(x86)'], process.env.ProgramFiles, `${SystemDrive}\\`]
  return folders.flatMap((folder) => onWindows(folder) ?? [])
}

/** Otherwise a misspelt variable would have no effect, and no error. */
function refuseUnknownEnvironment(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('BRIDGEWORK_AGENT_') && !environmentNames.includes(name)) {
      const names = environmentNames.join(', ')
      throw new UsageError(`Unknown variable ${name}.${didYouMean(name, environmentNames)} Known: ${names}.`)
    }
  }
}

async function runCheck(config: Config, asJson: boolean): Promise<number> {
  useNetworkOf(config, process.env)
  const findings = await check({
    connector: connectorOf(config),
    client: ingestClient(config),
    serverUrl: config.serverUrl,
    agentId: config.agentId,
    organizationId: config.organizationId,
    memory: sourceMemory(config.statePath),
    statePath: config.statePath,
    sendNotes: config.sendNotes,
    now: () => new Date(),
  })
  printFindings(findings, { asJson, isTerminal: process.stdout.isTTY === true, print: (line) => console.log(line) })
  return findings.some((finding) => finding.outcome === 'wrong') ? exitCodes.failed : exitCodes.good
}

async function run(config: Config, options: Options): Promise<number> {
  useNetworkOf(config, process.env)
  const once = options.get('once') === true
  const terminal = process.stdout.isTTY === true
  const mode = options.get('json') === true ? 'json' : terminal ? 'terminal' : 'lines'
  const print = progressReport(mode, { write: (text) => process.stdout.write(text), nowMs: Date.now })
  const status = createStatus({ version: agentVersion, nowMs: Date.now })
  const report: Report = (event) => {
    print(event)
    status.report(event)
  }
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  if (options.get('until-input-ends') === true) process.stdin.once('end', () => stop.abort()).resume()

  const toLauncher = reportToLauncher(() => stop.abort())
  const client = ingestClient(config)
  const retry = { sleep, random: Math.random, nowMs: Date.now, report, signal: stop.signal }
  const selfUpdate = once ? null : selfUpdateOf(client, retry)
  const heartbeat: IngestClient['heartbeat'] = async (...said) => {
    const answer = await client.heartbeat(...said)
    toLauncher()
    selfUpdate?.offer(answer.release)
    return answer
  }
  const state = openState(config.statePath, config)
  const connector = connectorOf(config, once ? {} : { signal: stop.signal })
  const deps: AgentDeps = {
    connector,
    client: { ...client, heartbeat },
    state,
    limits: { ...uploadLimits, linesMax: config.uploadLinesMax },
    sendNotes: config.sendNotes,
    freeBytes: () => freeBytesAt(config.statePath),
    ...retry,
    ...(selfUpdate && { selfUpdate }),
  }
  let page: StatusServer | null = null
  try {
    page = config.statusPort === null || once ? null : await showStatus(config.statusPort, status.read, report)
    const intervalSeconds = once ? null : config.intervalSeconds
    report({ event: 'agent.started', server: config.serverUrl, connector: config.source.connector, intervalSeconds })
    if (state.setAside !== null) report({ event: 'state.set_aside', path: state.setAside })
    if (state.wasReset) report({ event: 'state.reset' })
    const fully = options.get('full') === true
    // A pass that was stopped is not the whole pass that was asked for.
    if (once) return exitCodeOf(await runCycle(deps, { fully }), exitCodes.failed)
    const outcome = await runAgent(deps, { intervalMs: config.intervalSeconds * 1000, fully })
    report({ event: 'agent.stopped' })
    return exitCodeOf(outcome, exitCodes.good)
  } finally {
    await page?.stop()
    await connector.end?.()
    state.close()
    // Reading it would keep the process alive.
    process.stdin.destroy()
  }
}

function freeBytesAt(statePath: string): number | null {
  try {
    return freeBytesOf(dirname(statePath))
  } catch {
    return null
  }
}

/** Only a launcher can start another version, so without one there is nothing to take. */
function selfUpdateOf(client: IngestClient, retry: RetryDeps): SelfUpdate | null {
  const publicKey = pinnedKey()
  const dataDir = process.env.BRIDGEWORK_AGENT_DATA_DIR
  if (publicKey === null || dataDir === undefined || process.send === undefined) return null
  return createSelfUpdate({
    ...retry,
    client,
    publicKey,
    updates: openUpdates(dataDir, publicKey),
    running: agentVersion,
  })
}

/** The page is a convenience: a port that another program has is no reason not to run. */
async function showStatus(port: number, read: () => AgentStatus, report: Report): Promise<StatusServer | null> {
  try {
    return await startStatusServer(port, read)
  } catch (error) {
    const because = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    report({ event: 'status.unavailable', port, because })
    return null
  }
}

/** A longer wait for a file to rest is left to the next cycle, so that the agent reports meanwhile. */
const settleWaitMaxMs = 30_000

/** `signal`: of an agent that runs cycle after cycle. Without it there is one cycle, or one look. */
function connectorOf({ source, timeZone }: Config, { signal }: { signal?: AbortSignal } = {}): Connector {
  if (source.connector === 'sql') return sqlConnector({ ...source, timeZone })
  if (source.connector === 'open-dental')
    return openDentalConnector(source.database, timeZone, () => new Date(), { keepsSession: signal !== undefined })
  const clock = {
    monotonicMs: () => performance.now(),
    sleep: (ms: number) => sleep(ms, signal),
    waitMaxMs: signal === undefined ? Number.POSITIVE_INFINITY : settleWaitMaxMs,
  }
  return filesConnector({ ...source.files, timeZone }, clock)
}

function exitCodeOf(outcome: CycleOutcome, whenStopped: number): number {
  if (outcome.result === 'complete') return exitCodes.good
  if (outcome.result === 'stopped') return whenStopped
  return outcome.result === 'key_refused' ? exitCodes.keyRefused : exitCodes.failed
}
