import { homedir, hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { UsageError } from '@bridgework/command-line'
import { ask } from './ask.ts'
import { askPassword } from './ask-password.ts'
import { sleep } from './backoff.ts'
import { check } from './check.ts'
import { type Options, optionText, parseCommandLine } from './command-line.ts'
import { type Config, defaultConfigPath, readConfig } from './config-file.ts'
import { confirmRestore } from './confirm-restore.ts'
import type { Connector } from './connector.ts'
import { didYouMean } from './did-you-mean.ts'
import { enroll } from './enroll.ts'
import { askTimeZone } from './enroll-time-zone.ts'
import { filesConnector } from './files/connector.ts'
import { ingestClient } from './ingest-client.ts'
import { openDentalConnector } from './open-dental/connector.ts'
import { type AgentDeps, uploadLimits } from './pipeline/context.ts'
import { type CycleOutcome, runCycle } from './pipeline/cycle.ts'
import { progressReport } from './progress.ts'
import { runAgent } from './run-agent.ts'
import { sourceMemory } from './source-memory.ts'
import { openState } from './state.ts'
import { StateUnusable } from './state-file.ts'

const exitCodes = { good: 0, failed: 1, usage: 2, keyRefused: 3 } as const
const environmentNames = ['BRIDGEWORK_AGENT_CONFIG', 'BRIDGEWORK_AGENT_DB_PASSWORD']

// A chunk of rows outlives the young generation, and V8 lets the old one grow to four times what is alive before it collects: the longer a
// read, the more of an office's memory would hold garbage. `memory.test.ts` fails without this, or when a Node ignores it.
setFlagsFromString('--heap-growing-percent=40')

process.exitCode = await main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(error.usage === '' ? error.message : `${error.message}\n\n${error.usage}`)
    return exitCodes.usage
  }
  if (error instanceof StateUnusable) {
    console.error(error.message)
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
    defaultConfigPath({ isRoot, home: homedir() })
  switch (line.command) {
    case 'enroll':
      return await enroll(line.options, {
        configPath,
        hostName: hostname(),
        passwordFromEnvironment: process.env.BRIDGEWORK_AGENT_DB_PASSWORD,
        askPassword: process.stdin.isTTY ? (question) => askPassword(process.stdin, process.stderr, question) : null,
        print: (text) => console.log(text),
        askTimeZone: (config) =>
          askTimeZone(ingestClient(config), connectorOf(config), {
            ask: process.stdin.isTTY ? (question) => ask(process.stdin, process.stderr, question) : null,
            print: (text) => console.log(text),
          }),
      })
    case 'check':
      return await runCheck(readConfig(configPath), line.options.get('json') === true)
    case 'confirm-restore': {
      const config = readConfig(configPath)
      const memory = sourceMemory(config.statePath)
      return await confirmRestore({ connector: connectorOf(config), memory, print: (text) => console.log(text) })
    }
    case 'run':
      return await run(readConfig(configPath), line.options)
  }
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
  const findings = await check({
    connector: connectorOf(config),
    client: ingestClient(config),
    serverUrl: config.serverUrl,
    agentId: config.agentId,
    organizationId: config.organizationId,
    memory: sourceMemory(config.statePath),
    sendNotes: config.sendNotes,
    now: () => new Date(),
  })
  const marks = { good: 'good   ', advice: 'advice ', wrong: 'WRONG  ' }
  for (const finding of findings) {
    if (asJson) console.log(JSON.stringify(finding))
    else
      console.log(
        `${marks[finding.outcome]} ${finding.what}${finding.todo === null ? '' : `\n         ${finding.todo}`}`,
      )
  }
  return findings.some((finding) => finding.outcome === 'wrong') ? exitCodes.failed : exitCodes.good
}

async function run(config: Config, options: Options): Promise<number> {
  const once = options.get('once') === true
  const terminal = process.stdout.isTTY === true
  const mode = options.get('json') === true ? 'json' : terminal ? 'terminal' : 'lines'
  const report = progressReport(mode, { write: (text) => process.stdout.write(text), nowMs: Date.now })
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

  const state = openState(config.statePath, config)
  const deps: AgentDeps = {
    connector: connectorOf(config),
    client: ingestClient(config),
    state,
    limits: { ...uploadLimits, linesMax: config.uploadLinesMax },
    sendNotes: config.sendNotes,
    sleep,
    random: Math.random,
    nowMs: Date.now,
    report,
    signal: stop.signal,
  }
  try {
    const intervalSeconds = once ? null : config.intervalSeconds
    report({ event: 'agent.started', server: config.serverUrl, connector: config.source.connector, intervalSeconds })
    if (state.wasReset) report({ event: 'state.reset' })
    const fully = options.get('full') === true
    // A pass that was stopped is not the whole pass that was asked for.
    if (once) return exitCodeOf(await runCycle(deps, { fully }), exitCodes.failed)
    const outcome = await runAgent(deps, { intervalMs: config.intervalSeconds * 1000, fully })
    report({ event: 'agent.stopped' })
    return exitCodeOf(outcome, exitCodes.good)
  } finally {
    state.close()
  }
}

function connectorOf({ source, timeZone }: Config): Connector {
  return source.connector === 'files'
    ? filesConnector({ ...source.files, timeZone })
    : openDentalConnector(source.database, timeZone)
}

function exitCodeOf(outcome: CycleOutcome, whenStopped: number): number {
  if (outcome.result === 'complete') return exitCodes.good
  if (outcome.result === 'stopped') return whenStopped
  return outcome.result === 'key_refused' ? exitCodes.keyRefused : exitCodes.failed
}
