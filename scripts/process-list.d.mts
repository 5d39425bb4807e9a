export type RunningProcess = { parent: number; began: string }

/** Every process that runs, by its id. */
export function listProcesses(): Map<number, RunningProcess>
