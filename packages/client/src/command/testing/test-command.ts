import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { someClient } from '../../testing/test-client.ts'
import { run } from '../run.ts'

/** A service with one vendor, and the environment in which the command is the vendor's. */
export async function someCommand(t: TestContext, options: { insurancePlans?: number; isPreviewOff?: boolean } = {}) {
  const made = await someClient(t, options)
  const env = {
    HOME: someFolder(t),
    BRIDGEWORK_BASE_URL: made.world.url,
    BRIDGEWORK_CLIENT_ID: made.vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: made.vendor.clientSecret,
  }
  return { ...made, env }
}

/** Runs the command line to its end. */
export async function command(argv: string[], env: Record<string, string>, input = '') {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const [out, err] = [textOf(stdout), textOf(stderr)]
  const stdin = Readable.from([input])
  const code = await run(argv, { stdin, stdout, stderr, env, signal: new AbortController().signal })
  stdout.end()
  stderr.end()
  return { code, out: await out, err: await err }
}

/** One that goes on: `says` waits for a text on either output. */
export function begin(argv: string[], env: Record<string, string>) {
  const output = new PassThrough()
  const stop = new AbortController()
  let text = ''
  output.on('data', (part) => {
    text += part
  })
  const stdin = Readable.from([])
  const ended = run(argv, { stdin, stdout: output, stderr: output, env, signal: stop.signal })
  return {
    ended,
    text: () => text,
    interrupt: () => stop.abort(new Error('interrupted')),
    says: (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (pattern.test(text)) resolve()
        }
        output.on('data', look)
        look()
        void ended.then((code) => reject(new Error(`ended with ${code}: ${text}`)))
      }),
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ''
  for await (const part of stream) text += part
  return text
}

export function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-command-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
