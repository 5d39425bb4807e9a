import { ApiError, parseObject } from '../api-error.ts'
import { datasetNames } from '../dataset-resource.ts'
import type { LocationRecord } from '../directory-resource.ts'
import type { Command, Context } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { type Finding, lineOf, markdownOf } from './finding.ts'
import { checkIntegration, VisibleError } from './integration/integration-check.ts'
import { readPeriod, readSelection } from './selection.ts'
import { openClient, readSettings, type Settings, SettingsError } from './settings.ts'
import { UsageError } from './usage-error.ts'

const formats = ['text', 'markdown'] as const

export const doctor: Command = {
  summary: 'look at everything that a sync needs, or at a program that syncs, and say what to do',
  usage: '[--integration [--visible <command>] -- <program> …]',
  details: [
    'With --integration it runs your program six times against a simulated service on this computer. The program gets the address and a key pair',
    'in BRIDGEWORK_BASE_URL, BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET. It should begin with an empty copy.',
  ],
  options: {
    integration: { summary: 'check the program after -- that keeps a copy' },
    visible: { value: 'command', summary: 'prints the ids of the records that the copy shows' },
    dataset: {
      value: 'name',
      repeatable: true,
      choices: datasetNames,
      summary: 'grant only this dataset; may be repeated',
    },
    within: { value: 'period', summary: 'how long one run may take: 30s, 5m; 5m when left out' },
    format: { value: 'format', choices: formats, summary: 'text, or markdown for a pull request' },
  },
  argsMax: Number.POSITIVE_INFINITY,
  async run(context) {
    const { options, args } = context
    const isIntegration = options.flag('integration')
    if (!isIntegration) {
      const [unexpected] = [...args, ...['visible', 'dataset', 'within', 'format'].filter((name) => options.text(name))]
      if (unexpected !== undefined) throw new UsageError(`${JSON.stringify(unexpected)} is for --integration only.`)
    }
    const format = options.text('format') ?? 'text'
    if (!formats.some((each) => each === format))
      throw new UsageError(`Unknown format ${JSON.stringify(format)}. Formats: ${formats.join(', ')}`)
    const findings: Finding[] = []
    for await (const finding of isIntegration ? integration(context) : examine(context)) {
      findings.push(finding)
      if (context.json) await context.write(`${JSON.stringify(finding)}\n`)
      else if (format === 'text') await context.write(lineOf(finding))
    }
    if (format === 'markdown' && !context.json)
      await context.write(markdownOf(`Integration check of ${args.join(' ')}`, findings))
    // A check that could not be made is none that was passed.
    const isGood = ({ result }: Finding) => result === 'ok' || (result === 'note' && !isIntegration)
    return findings.every(isGood) ? exitCodes.done : exitCodes.partly
  },
}

async function* integration({ args, options, env, signal, say }: Context): AsyncGenerator<Finding> {
  if (args.length === 0) throw new UsageError('Missing: the program to check, after --')
  const { datasets = datasetNames } = readSelection(options)
  const onRun = (what: string) => say(`Running your program: ${what}.`)
  const visible = options.text('visible') ?? null
  const withinMs = readPeriod(options.text('within') ?? '5m', 1)
  try {
    yield* await checkIntegration({ program: args, visible, datasets, withinMs, env, signal, onRun })
  } catch (error) {
    if (error instanceof VisibleError) throw new UsageError(error.message)
    if (error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn'))
      throw new UsageError(`The program ${JSON.stringify(args[0])} cannot be started: ${error.message}`)
    throw error
  }
}

async function* examine({ env, signal }: Context): AsyncGenerator<Finding> {
  yield runtime()
  let settings: Settings
  try {
    settings = readSettings(env)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    yield { check: 'key pair', result: 'problem', text: 'There is no key pair.', advice: error.message }
    return
  }
  yield { check: 'key pair', result: 'ok', text: `${settings.clientId.slice(0, 10)}…, from ${settings.from}` }

  const client = openClient(env, settings)
  const service = await lookAtService(client.baseUrl, signal)
  yield* service.findings
  if (!service.isThere) return

  let locations: LocationRecord[]
  try {
    locations = []
    for await (const location of client.locations.list({ signal })) locations.push(location)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    yield refused(error)
    return
  }
  yield { check: 'token', result: 'ok', text: 'Authentication succeeded.' }
  yield { check: 'agreement', result: 'ok', text: 'The current developer agreement is accepted.' }
  yield* grants(locations)
  const text =
    'This client reads at most 5 locations in full and 25 by delta at a time, or fewer if the service says so.'
  yield { check: 'limits', result: 'ok', text }
}

function runtime(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const hasSqlite = major > 22 || (major === 22 && minor >= 13)
  const text = `${process.version} on ${process.platform} ${process.arch}`
  if (hasSqlite) return { check: 'runtime', result: 'ok', text }
  return {
    check: 'runtime',
    result: 'note',
    text,
    advice: 'mirror --to sqlite: needs Node 22.13 or newer; folders and Postgres work.',
  }
}

/** A protected path without a token is refused in a way that only Bridgework does. */
async function lookAtService(baseUrl: string, signal: AbortSignal): Promise<{ isThere: boolean; findings: Finding[] }> {
  const findings: Finding[] = []
  const check = 'base URL'
  let response: Response
  let sentAt: number
  try {
    sentAt = Date.now()
    response = await fetch(`${baseUrl}/locations`, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
  } catch (error) {
    signal.throwIfAborted()
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    const advice = 'Check the address, the network, and any proxy or firewall.'
    return {
      isThere: false,
      findings: [{ check, result: 'problem', text: `${baseUrl} cannot be reached: ${cause}`, advice }],
    }
  }
  const body = parseObject(await response.text())
  if (response.status !== 401 || body?.code !== 'token_required') {
    const text = `The answer of ${baseUrl} (status ${response.status}) is not from Bridgework.`
    const advice = 'Check that the base URL ends with /api/v1/vendors. If it does, a proxy has answered.'
    return { isThere: false, findings: [{ check, result: 'problem', text, advice }] }
  }
  const { protocol, hostname } = new URL(baseUrl)
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname)
  if (protocol === 'http:' && !isLocal) {
    const advice = 'Use https://. Without it, others on the network can read the client secret and patients’ data.'
    findings.push({ check, result: 'problem', text: `${baseUrl} is not encrypted.`, advice })
  } else findings.push({ check, result: 'ok', text: baseUrl })
  const date = Date.parse(response.headers.get('date') ?? '')
  if (Number.isFinite(date)) findings.push(clock(Math.round((date - (sentAt + Date.now()) / 2) / 1000)))
  return { isThere: true, findings }
}

/** A Date header has whole seconds, so two of them are no difference. */
function clock(aheadSeconds: number): Finding {
  const check = 'clock'
  if (Math.abs(aheadSeconds) <= 2)
    return { check, result: 'ok', text: 'This machine’s clock agrees with the service’s.' }
  const text = `This machine’s clock is ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'behind' : 'ahead of'} the service’s.`
  const advice =
    'Synchronize the clock with NTP. Syncs use the watermark of the service and stay correct; times that you set yourself do not.'
  return { check, result: Math.abs(aheadSeconds) > 60 ? 'problem' : 'note', text, advice }
}

function refused(error: ApiError): Finding {
  if (error.code === 'agreement_required') {
    const advice = 'The owner of your account must accept the current agreement in the portal.'
    return { check: 'agreement', result: 'problem', text: error.errors, advice }
  }
  if (error.code === 'credentials_invalid') {
    const advice =
      'Check the client id and the secret, whether the key pair was regenerated, and whether the account owner accepted the agreement. Then run: bridgework login'
    return { check: 'token', result: 'problem', text: error.errors, advice }
  }
  const advice = `Try again.${error.requestId ? ` If you ask for help, name the request id ${error.requestId}.` : ''}`
  return { check: 'token', result: 'problem', text: error.message, advice }
}

function* grants(locations: readonly LocationRecord[]): Generator<Finding> {
  const check = 'grants'
  if (locations.length === 0) {
    const advice = 'Ask the practice for access. Everything else works.'
    yield { check, result: 'problem', text: 'No location has granted access to your company.', advice }
    return
  }
  const datasets = new Set(locations.flatMap(({ attributes }) => attributes.datasets_granted))
  yield { check, result: 'ok', text: `${locations.length} locations; datasets: ${[...datasets].join(', ')}` }
  for (const { id, attributes } of locations) {
    if (attributes.sync.state === 'current') continue
    const known: Partial<Record<string, string>> = {
      pending: 'The first read of the practice is not complete. A copy that you make now may be incomplete.',
      stale: 'The agent of the practice has not finished a read for some time. Your copy is as old.',
      disconnected: 'The agent of the practice is not connected. Ask the practice to check the office computer.',
      not_provided: 'The system of the practice has none of the datasets that were granted to you.',
    }
    const advice = known[attributes.sync.state] ?? 'Update the client: its release does not know this state.'
    yield { check: 'freshness', result: 'note', text: `Location ${id} is ${attributes.sync.state}.`, advice }
  }
}
