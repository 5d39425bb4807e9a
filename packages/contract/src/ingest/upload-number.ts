/**
 * An agent may give its first upload, or jump to, any number up to here: the last moment of a clock, in milliseconds (ECMA-262, "Time Values and
 * Time Range").
 */
export const uploadNumberJumpMax = 8.64e15

/** Beyond that, an upload is at most so far above the highest: numbers of refused uploads are left out. */
const uploadNumberStepMax = 1_000_000

/**
 * Whether an agent whose highest number is this (null: it has none) may number an upload so. Between the last jump and the largest number that
 * JSON's readers keep exactly are 367 million million numbers, which are only counted: no clock and no fault reaches the end of them.
 */
export function isUploadNumber(number: number, highest: number | null): boolean {
  if (!Number.isSafeInteger(number) || number < 1) return false
  return number <= uploadNumberJumpMax || number - (highest ?? 0) <= uploadNumberStepMax
}
