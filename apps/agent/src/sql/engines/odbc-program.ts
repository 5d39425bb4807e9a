import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inTime } from '../sql-problem.ts'

/** An answer of the program; `end`: the object that ended it. */
export type OdbcAnswer = {
  /** Each column's name and ODBC's number of its type. */
  readonly columns: readonly (readonly [string, number])[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly end: Readonly<Record<string, unknown>>
}

/** The program that reads through ODBC (`apps/agent/odbc`), while it runs. One question at a time. */
export type OdbcProgram = {
  /** Rejects with an `OdbcError`. */
  ask(command: string, text?: string): Promise<OdbcAnswer>
  /** Resolves when the program has ended. */
  end(): Promise<void>
}

/** `code`: an SQLSTATE, or a word of ours. `message`: the driver's own text, which may quote values. */
export class OdbcError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The agent's own programs, in the folder of its package: of 64 bits, and on Windows one of 32 for the drivers of old systems. */
export function packagedPrograms(execPath = process.execPath, platform = process.platform): string[] {
  const names =
    platform === 'win32' ? ['bridgework-agent-odbc.exe', 'bridgework-agent-odbc-32.exe'] : ['bridgework-agent-odbc']
  const folder = join(dirname(execPath), platform === 'win32' ? '..' : '../..')
  return names.map((name) => join(folder, name)).filter((path) => existsSync(path))
}

const endMsMax = 2000

/** Starts a program, which ends by itself with this process. */
export function startOdbc(path: string): OdbcProgram {
  const child = spawn(path, [], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
  let waiting: { resolve(answer: OdbcAnswer): void; reject(error: Error): void } | null = null
  let columns: OdbcAnswer['columns'] = []
  let rows: (readonly (string | null)[])[] = []
  let failure: OdbcError | null = null
  const fail = (error: OdbcError) => {
    failure ??= error
    waiting?.reject(failure)
  }
  const take = (value: OdbcAnswer['rows'][number] | Record<string, unknown>) => {
    if (Array.isArray(value)) rows.push(value)
    else if ('columns' in value) columns = value.columns as OdbcAnswer['columns']
    else if ('state' in value) waiting?.reject(new OdbcError(String(value.state), String(value.text)))
    else waiting?.resolve({ columns, rows, end: value as Record<string, unknown> })
  }
  // A line of a long column comes in many parts.
  let parts: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...lines] = text.split('\n')
    parts.push(first)
    for (const next of lines) {
      take(JSON.parse(parts.join('')))
      parts = [next]
    }
  })
  child.on('error', (error) => fail(new OdbcError('NO_PROGRAM', error.message)))
  // It says what the end of the program says.
  child.stdin.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      fail(new OdbcError('PROGRAM_ENDED', 'the program ended'))
      resolve()
    })
  })
  const kill = () => void child.kill('SIGKILL')
  return {
    ask: async (command, text = '') => {
      if (failure !== null) throw failure
      const body = Buffer.from(text)
      rows = []
      const answer = new Promise<OdbcAnswer>((resolve, reject) => {
        waiting = { resolve, reject }
      })
      child.stdin.write(Buffer.concat([Buffer.from(`${command} ${body.length}\n`), body]))
      return await inTime(answer, kill)
    },
    end: async () => {
      child.stdin.end()
      await inTime(ended, kill, endMsMax).catch(() => ended)
    },
  }
}
