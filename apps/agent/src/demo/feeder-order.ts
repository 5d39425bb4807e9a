/** A practice beside the first one. */
export type AddedPractice = {
  readonly organizationId: string
  readonly agentId: string
  readonly agentKey: string
  readonly seed: string
}

/** What is to happen at a practice now, instead of what chance would bring. */
export type PracticeAct =
  /** Changes so many patients. */
  | { readonly act: 'change'; readonly records: number }
  /** Removes so many insurance plans of the largest location that nobody is insured by. */
  | { readonly act: 'remove'; readonly records: number }
  /** Removes so many of them at once that the service holds the removal. */
  | { readonly act: 'hold_removal' }
  /** Adds what these acts have removed, under the same keys. */
  | { readonly act: 'bring_back' }
  /** Renames the carrier with the most insurance plans. */
  | { readonly act: 'rename_carrier' }
  /** Merges a patient into another one of the location. */
  | { readonly act: 'merge' }
  /** Reads and sends nothing for so long; 0: goes on. */
  | { readonly act: 'silence'; readonly minutes: number }

/** What the server tells the feeder, one line of JSON each on its standard input. */
export type FeederOrder =
  | { readonly order: 'add'; readonly practice: AddedPractice }
  /** Forgets the practice and what is on disk of it. */
  | { readonly order: 'remove'; readonly organizationId: string }
  /** Answered by `act.done` or `act.refused` with the same id. */
  | { readonly order: 'act'; readonly id: number; readonly organizationId: string; readonly act: PracticeAct }

/** Reads a line of the server, which wrote it with `JSON.stringify`. */
export function readOrder(line: string): FeederOrder {
  return JSON.parse(line)
}
