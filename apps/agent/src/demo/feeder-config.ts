import { isIPv4 } from 'node:net'
import type { AddedPractice } from './feeder-order.ts'

export type FeederConfig = {
  readonly serverUrl: string
  /** Where the practices and the agents' memories live on from one start to the next. */
  readonly stateDir: string
  readonly intervalMs: number
  /** The practice that the process is started for; null: all that it feeds are ordered later. */
  readonly first: AddedPractice | null
}

export class FeederConfigInvalid extends Error {}

/**
 * Reads every setting before it complains, so one start shows all that is wrong. No message holds a value. `ownAddresses` are those of this
 * machine's network interfaces.
 */
export function readFeederConfig(env: NodeJS.ProcessEnv, ownAddresses: readonly string[] = []): FeederConfig {
  const problems: string[] = []

  function read(name: string, rule: { test: (text: string) => boolean }, must: string, otherwise?: string): string {
    const value = env[`BRIDGEWORK_FEEDER_${name}`] || otherwise
    if (value === undefined) problems.push(`BRIDGEWORK_FEEDER_${name} is missing.`)
    else if (!rule.test(value)) problems.push(`BRIDGEWORK_FEEDER_${name} must be ${must}.`)
    return value ?? ''
  }

  const hasFirst = ['AGENT_KEY', 'AGENT_ID', 'ORGANIZATION_ID'].some((name) => env[`BRIDGEWORK_FEEDER_${name}`])
  const readFirst = () => ({
    agentKey: read('AGENT_KEY', /^bwa_[\w-]{43}$/, 'an agent key: bwa_ and 43 characters'),
    agentId: read('AGENT_ID', /^[1-9]\d{0,18}$/, 'a positive whole number'),
    organizationId: read('ORGANIZATION_ID', /^[1-9]\d{0,18}$/, 'a positive whole number'),
    seed: read('SEED', /./, 'a text', 'bridgework'),
  })
  const first = hasFirst ? readFirst() : null

  const config = {
    // The agent's key goes there: over TLS, or not out of this machine.
    serverUrl: read(
      'SERVER_URL',
      { test: (text) => isBareAddress(text) && (text.startsWith('https://') || isOfThisMachine(text, ownAddresses)) },
      'an https address, or an http address of this machine, without a path',
    ),
    stateDir: read('STATE_DIR', /./, 'a folder'),
    intervalMs: Number(read('INTERVAL_MS', /^[1-9]\d{1,7}$/, 'a whole number of milliseconds, at least 10', '3000')),
    first,
  }
  if (problems.length > 0) throw new FeederConfigInvalid(problems.join('\n'))
  return config
}

function isBareAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

/** Loopback, or an address of one of its own interfaces: what is sent there does not leave the machine. */
function isOfThisMachine(url: string, ownAddresses: readonly string[]): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  return (
    host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.')) || ownAddresses.includes(host)
  )
}
