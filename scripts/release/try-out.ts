import { spawnSync } from 'node:child_process'
import { createServer as createHttpServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Runs a command to its end and returns what it printed; throws with its complaint when it fails. */
export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number } = {},
): string {
  const done = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (done.status === 0) return done.stdout
  throw new Error(`${command} ${args.join(' ')} failed: ${done.error?.message ?? done.stderr + done.stdout}`)
}

/** Throws unless this is a part of the text. */
export function expectAnswer(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`Expected "${part}" in: ${text.slice(0, 500)}`)
}

/** Prints what was tried and what came of it. */
export function note(what: string, text: string): void {
  console.log(`${what}: ${text}`)
}

/** Throws when systemd finds the unit of an unpacked package little protected. */
export function verifyUnit(unpacked: string, name: string): void {
  const unit = join(unpacked, `usr/lib/systemd/system/${name}.service`)
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], {
    encoding: 'utf8',
  })
  const level = /Overall exposure level for .*: ([\d.]+) (\w+)/.exec(stdout)
  if (!level || Number(level[1]) > 2) throw new Error(`systemd-analyze security says ${level?.[0] ?? stdout}`)
  note('systemd', `${name}: exposure ${level[1]} of 10 (${level[2]})`)
}

/** As a proxy that speaks TLS would: an agent on this machine may use http. */
export async function startProxy(serviceUrl: string, scope: { after(work: () => void): void }): Promise<string> {
  const proxy = createHttpServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
    const onward = request(new URL(incoming.url ?? '/', serviceUrl), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  scope.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
