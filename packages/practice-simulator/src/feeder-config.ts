export type FeederConfig = {
  readonly serverUrl: string
  readonly agentKey: string
  readonly agentId: string
  readonly organizationId: string
  /** Where the practice and the agent's memory live on from one start to the next. */
  readonly stateDir: string
  readonly intervalMs: number
  readonly seed: string
}

export class FeederConfigInvalid extends Error {}

/** Reads every setting before it complains, so one start shows all that is wrong. No message holds a value. */
export function readFeederConfig(env: NodeJS.ProcessEnv): FeederConfig {
  const problems: string[] = []

  function read(name: string, rule: RegExp, must: string, otherwise?: string): string {
    const value = env[`BRIDGEWORK_FEEDER_${name}`] || otherwise
    if (value === undefined) problems.push(`BRIDGEWORK_FEEDER_${name} is missing.`)
    else if (!rule.test(value)) problems.push(`BRIDGEWORK_FEEDER_${name} must be ${must}.`)
    return value ?? ''
  }

  const config = {
    // The agent's key goes there: over TLS, or not out of this machine.
    serverUrl: read(
      'SERVER_URL',
      /^(https:\/\/[^/\s]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)$/,
      'an https address, or an http address of this machine, without a path',
    ),
    agentKey: read('AGENT_KEY', /^bwa_[\w-]{43}$/, 'an agent key: bwa_ and 43 characters'),
    agentId: read('AGENT_ID', /^[1-9]\d{0,18}$/, 'a positive whole number'),
    organizationId: read('ORGANIZATION_ID', /^[1-9]\d{0,18}$/, 'a positive whole number'),
    stateDir: read('STATE_DIR', /./, 'a folder'),
    intervalMs: Number(read('INTERVAL_MS', /^[1-9]\d{1,7}$/, 'a whole number of milliseconds, at least 10', '3000')),
    seed: read('SEED', /./, 'a text', 'bridgework'),
  }
  if (problems.length > 0) throw new FeederConfigInvalid(problems.join('\n'))
  return config
}
