import { parseArgs } from 'node:util'
import { rows } from './rows.ts'

// npm run soak -- [row …] [--plans <n>] [--kills <n>] [--runs <n>] [--minutes <n>] [--seeds <n>] [--seed <text>]
try {
  process.exitCode = await soak(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}

/** Returns the exit code: 1 when a promise is broken. */
async function soak(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      plans: { type: 'string' },
      kills: { type: 'string' },
      runs: { type: 'string' },
      minutes: { type: 'string' },
      seeds: { type: 'string' },
      seed: { type: 'string' },
    },
  })
  const unknown = positionals.find((id) => !rows.some((row) => row.id === id.toUpperCase()))
  if (unknown !== undefined) {
    throw new Error(`There is no row ${unknown}. Rows:\n${rows.map((row) => `  ${row.id}  ${row.title}`).join('\n')}`)
  }
  const options = {
    plans: wholeNumber('plans', values.plans ?? '100000', 1_000),
    kills: wholeNumber('kills', values.kills ?? '200', 1),
    runs: wholeNumber('runs', values.runs ?? '100', 1),
    minutes: wholeNumber('minutes', values.minutes ?? '60', 1),
    seeds: wholeNumber('seeds', values.seeds ?? (values.seed === undefined ? '3' : '1'), 1),
    seed: values.seed ?? String(Date.now()),
  }
  const chosen = rows.filter((row) => positionals.length === 0 || positionals.some((id) => id.toUpperCase() === row.id))
  let broken = 0
  for (const row of chosen) {
    console.log(`${row.id}  ${row.title} (${options.plans} plans, ${options.kills} kills, seed ${options.seed})`)
    const begunAt = performance.now()
    const outcome = await row.run(options).then(
      (text) => `kept: ${text}`,
      (error: unknown) => {
        broken += 1
        return `BROKEN: ${error instanceof Error ? error.message : error}`
      },
    )
    console.log(`     ${outcome} [${Math.round((performance.now() - begunAt) / 1000)} s]`)
  }
  return broken > 0 ? 1 : 0
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  throw new Error(`--${name} must be a whole number of at least ${min}.`)
}
