import { UsageError } from '@bridgework/command-line'
import { type Options, optionText } from '../command-line.ts'
import { type Config, prepareConfigFile } from '../config-file.ts'
import { type Connector, isPassing, SourceProblem } from '../connector.ts'
import { draftConfig } from '../enroll/enroll.ts'
import { parseServerUrl } from '../enroll/server-url.ts'
import { type IngestClient, IngestProblem } from '../ingest-client.ts'
import { todoOf } from '../pipeline/cycle.ts'

export type ConfigureDeps = {
  readonly configPath: string
  /** The settings as they are. */
  readonly before: Config
  readonly print: (line: string) => void
  /** Ask a person; null when there is no terminal. */
  readonly ask: ((question: string) => Promise<string>) | null
  readonly askPassword: ((question: string) => Promise<string>) | null
  /** The value of BRIDGEWORK_AGENT_DB_PASSWORD. */
  readonly passwordFromEnvironment: string | undefined
  /** What speaks to the server and the source with other settings; the process uses their proxy and certificates from then on. */
  readonly connect: (config: Config) => { client: IngestClient; connector: Connector }
  readonly check: () => Promise<number>
  /** Restarts the installed service and says so; null where this agent is not installed as one. */
  readonly startService: () => string | null
}

/** What a person may change, and how it is asked. */
const changes = [
  { text: 'the password of the database', option: null, question: 'New password of the database user' },
  {
    text: 'the address of the database',
    option: 'db-host',
    question: 'Computer with the database (name or address): ',
  },
  { text: 'the port of the database', option: 'db-port', question: 'Port of the database: ' },
  { text: 'the proxy', option: 'proxy', question: 'Proxy, as http://proxy:3128 ("none" for none): ' },
  { text: 'the file of certificates', option: 'ca-file', question: 'File of certificates, PEM ("none" for none): ' },
  { text: 'the address of Bridgework', option: 'server', question: 'Address, as https://bridgework.example.com: ' },
] as const

/**
 * Changes settings of an enrolled agent, without a new code. The new ones are tried before they are written: the service must know the agent, and the
 * source must answer. The exit code: 0 when they are written and `check` is content.
 */
export async function configure(options: Options, deps: ConfigureDeps): Promise<number> {
  const { before, configPath, print } = deps
  const names = [...options.keys()].filter((name) => name !== 'config' && name !== 'untried')
  const wanted = names.length > 0 || deps.passwordFromEnvironment !== undefined
  const chosen = wanted ? { options, password: deps.passwordFromEnvironment } : await askChange(options, deps)
  const server = parseServerUrl(optionText(chosen.options, 'server') ?? before.serverUrl)
  if ('because' in server) throw new UsageError(server.because)
  const draft = await draftConfig(
    chosen.options,
    { configPath, passwordFromEnvironment: chosen.password, askPassword: deps.askPassword },
    server.url,
    before,
  )
  const { organizationId, agentId, agentKey } = before
  const config = { ...draft, organizationId, agentId, agentKey }
  const file = prepareConfigFile(configPath)
  try {
    const problem = options.get('untried') === true ? null : await problemOf(config, deps)
    if (problem !== null) {
      file.discard()
      print(`${problem}\nNothing was changed. To write these settings all the same, add --untried.`)
      return 1
    }
    file.write(config)
  } catch (error) {
    file.discard()
    throw error
  }
  print(`The settings are written: ${configPath}`)
  const checked = await deps.check()
  print(deps.startService() ?? 'Next, restart the agent: it reads its settings when it starts.')
  return checked
}

async function askChange(options: Options, deps: ConfigureDeps): Promise<{ options: Options; password?: string }> {
  const { ask, askPassword, before, print } = deps
  if (ask === null || askPassword === null)
    throw new UsageError('Say what to change. See "bridgework-agent configure --help".')
  print('What changes?')
  for (const [index, { text }] of changes.entries()) print(`  ${index + 1}: ${text}`)
  const change = changes[Number(await ask(`1 to ${changes.length}: `)) - 1]
  if (change === undefined) throw new UsageError('Cancelled. Nothing was changed.')
  if (change.option !== null) {
    return { options: new Map([...options, [change.option, (await ask(change.question)).trim()]]) }
  }
  if (before.source.connector === 'files') throw new UsageError('This agent reads files and has no database.')
  return { options, password: await askPassword(`${change.question} "${before.source.database.user}": `) }
}

/** Why these settings do not work, and what to do; null: they do. */
async function problemOf(config: Config, { connect }: ConfigureDeps): Promise<string | null> {
  const { client, connector } = connect(config)
  try {
    const { zones } = await client.identify()
    await (await connector.beginCycle(zones)).end()
    return null
  } catch (error) {
    if (error instanceof IngestProblem) return `${error.errors}\n  ${todoOf(error)}`
    if (!(error instanceof SourceProblem)) throw error
    return isPassing(error) ? null : `${error.message}\n  ${error.todo}`
  }
}
