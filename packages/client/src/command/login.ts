import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Command, Context } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { credentialsFile, keepCredentials, openClient, readCredentials } from './settings.ts'
import { UsageError } from './usage-error.ts'

export const login: Command = {
  summary: 'check a key pair and save it for the other commands',
  usage: '[--base-url <url>] [--client-id <id>]',
  details: [
    'Asks for what is missing. The secret is typed without being shown, or is the first line of stdin. It is never an argument, because',
    'other users of the machine can read arguments. --file reads a JSON file, like .bridgework/sandbox.json of the sandbox.',
  ],
  options: {
    'base-url': { value: 'url', summary: 'where the service is; ends with /api/v1/vendors' },
    'client-id': { value: 'id', summary: 'the first half of the key pair, bwc_…' },
    file: { value: 'file', summary: 'read base_url, client_id and client_secret from this JSON file' },
  },
  argsMax: 0,
  async run(context) {
    const pair = await readPair(context)
    const client = openClient(context.env, pair)
    let count = 0
    for await (const _ of client.locations.list({ signal: context.signal })) count += 1
    await keepCredentials(context.env, { ...pair, baseUrl: client.baseUrl })
    const file = credentialsFile(context.env)
    if (context.json) await context.write(`${JSON.stringify({ file, base_url: client.baseUrl, locations: count })}\n`)
    else
      context.say(
        `The key pair works. Your company may read ${count} locations. The key pair is saved in ${file}, which only you can read.`,
      )
    return exitCodes.done
  },
}

async function readPair({ options, env, stdin, stderr, signal }: Context) {
  const file = options.text('file')
  if (file !== undefined) {
    const pair = readCredentials(file)
    if (!pair) throw new UsageError(`The file ${file} does not exist.`)
    return pair
  }
  const isTerminal = stdin.isTTY === true
  // What is typed is echoed by readline itself, into a stream that keeps silent for the secret.
  let isSilent = false
  const output = new Writable({
    write(part, _encoding, done) {
      if (!isSilent) stderr.write(part)
      done()
    },
  })
  const lines = createInterface({ input: stdin, output, terminal: isTerminal })
  // While readline reads the terminal, Ctrl-C is a key like any other, and Ctrl-D ends the questions without an answer.
  const ended = new AbortController()
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  lines.on('close', () => ended.abort())
  const answerTo = async (question: string) => {
    try {
      return (await lines.question(question, { signal: AbortSignal.any([signal, ended.signal]) })).trim()
    } catch (error) {
      signal.throwIfAborted()
      if (ended.signal.aborted) throw new UsageError('Cancelled: a question was not answered.')
      throw error
    }
  }
  try {
    const ask = async (question: string, kept: string | undefined) => {
      if (kept !== undefined && kept !== '') return kept
      if (!isTerminal) throw new UsageError(`Missing: ${question}. There is no terminal to ask for it.`)
      return answerTo(`${question}: `)
    }
    const baseUrl = await ask('--base-url', options.text('base-url') ?? env.BRIDGEWORK_BASE_URL)
    const clientId = await ask('--client-id', options.text('client-id') ?? env.BRIDGEWORK_CLIENT_ID)
    let clientSecret = env.BRIDGEWORK_CLIENT_SECRET ?? ''
    if (clientSecret === '' && isTerminal) {
      stderr.write('Client secret (not shown): ')
      isSilent = true
      clientSecret = await answerTo('')
      stderr.write('\n')
    } else if (clientSecret === '') {
      clientSecret = (await firstLine(lines)).trim()
    }
    if (baseUrl === '' || clientId === '' || clientSecret === '') {
      throw new UsageError(
        'Login needs a base URL, a client id and a client secret (on stdin if it is not a terminal).',
      )
    }
    return { baseUrl, clientId, clientSecret }
  } finally {
    lines.close()
  }
}

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) return line
  return ''
}
