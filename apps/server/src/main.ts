import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { releaseVersion } from '@bridgework/contract/release'
import { type Config, ConfigError, readConfig } from './config.ts'
import { WrongSecretKey } from './modules/credentials/installation.ts'
import { SecretKeyFileError } from './modules/credentials/secret-key-file.ts'
import { DatabaseStartError } from './platform/database/start-error.ts'
import { TlsFileError } from './platform/http/tls.ts'
import { createLineWriter, createLog } from './platform/log/log.ts'
import { UnsafeStart } from './safe-start.ts'
import { whenStarted } from './sandbox/demo-practices.ts'
import { firstCall, type Sandbox, startSandbox } from './sandbox/sandbox.ts'
import { openService } from './service.ts'

if (process.argv.includes('--version')) {
  console.log(releaseVersion)
  process.exit(0)
}

const root = resolve(import.meta.dirname, '../../..')
const stopWithinMs = 30_000

try {
  await run(readConfig(process.env, root))
} catch (error) {
  const isForPerson = [
    ConfigError,
    DatabaseStartError,
    SecretKeyFileError,
    TlsFileError,
    WrongSecretKey,
    UnsafeStart,
  ].some((type) => error instanceof type)
  console.error(cannotListen(error) ?? (isForPerson && error instanceof Error ? error.message : error))
  process.exit(1)
}

/** Starts everything and stays until a signal: then stops in the reverse order, letting requests under way finish. */
async function run(config: Config): Promise<void> {
  const lines = createLineWriter((text) => process.stderr.write(text))
  process.on('exit', lines.flush)
  const log = createLog(config.log, lines.add)
  const stopping = new AbortController()
  const stopped = once(stopping.signal, 'abort')
  // A second one too: wrappers send signals to the child and to its group, and dying midway would leave Postgres behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  log({ event: 'server.starting', environment: config.environment })
  let sandbox: Sandbox | null = null
  const service = await openService(config, log, {
    onSignUp: () => sandbox?.onSignUp(),
    practices: whenStarted(() => sandbox?.practices ?? null),
  })
  let stopSandbox = async () => {}
  try {
    if (config.metrics.address) await service.metricsApp?.listen(config.metrics.address)
    await service.app.listen({ host: config.host, port: config.port })
    if (config.environment === 'sandbox') {
      // A server that listens on a port has an address of this kind.
      const address = service.app.server.address() as AddressInfo
      const starting = startSandbox({ ...service, address, config, log, signal: stopping.signal })
      stopSandbox = async () => (await starting.catch(() => null))?.stop()
      sandbox = await Promise.race([starting, stopped.then(() => null)])
      if (sandbox) {
        announce(config, firstCall(sandbox.file, config))
      }
    } else announce(config, '')
    await stopped
  } finally {
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await stopSandbox()
    await service.close()
    log({ event: 'server.stopped', environment: config.environment })
  }
  process.exit(0)
}

/** One line for the person who starts the server; null for any other error. */
function cannotListen(error: unknown): string | null {
  const isSystemError = error instanceof Error && 'syscall' in error && 'code' in error
  if (!isSystemError || (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo')) return null
  if (error.code === 'EADDRINUSE') {
    return 'The port is in use. Stop the program that uses it, or set BRIDGEWORK_PORT to another port.'
  }
  if (error.code === 'EACCES')
    return 'This account cannot listen on that port. Set BRIDGEWORK_PORT to a port above 1023.'
  return `This machine cannot listen on that address (${error.code}). Set BRIDGEWORK_HOST to an address of this machine.`
}

function announce(config: Config, more: string): void {
  // With NODE_COMPILE_CACHE the next start finds it, also when this process is killed.
  flushCompileCache()
  console.log(`Bridgework is ready at ${config.publicUrl}`)
  if (more !== '') console.log(more)
}
