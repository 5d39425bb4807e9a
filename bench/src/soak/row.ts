/** How hard a row is tried: what is ingested, how often something is killed meanwhile, and the seed that repeats its moments. */
export type RowOptions = { plans: number; kills: number; seed: string }

/** How often a row is repeated that lasts as long as its practices live. */
export type RunOptions = { runs: number; seed: string }

/** How long the model of the service is played, with so many seeds in turn. */
export type ModelRunOptions = { minutes: number; seeds: number; seed: string }

/** One promise that is tried hard. `run` throws when it is broken, and returns what it measured. */
export type Row = {
  id: string
  title: string
  run: (options: RowOptions & RunOptions & ModelRunOptions) => Promise<string>
}
