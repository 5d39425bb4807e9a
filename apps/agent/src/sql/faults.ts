import { SourceProblem } from '../connector.ts'
import { type FileFault, faultText } from '../files/fault.ts'

/** Rows of a dataset that are left out, by their record's key. No key and no value of them is ever printed. */
export type Faults = {
  /** Everything is read anew. */
  begin(): void
  add(fault: FileFault): void
  /** The record with this key could be made. */
  clear(key: string): void
  has(key: string): boolean
  count(): number
  /** Says what is left out, once after each change of it. */
  takeAdvice(): string | null
  /** Why nothing more is sent, where no row may be left out. */
  refused(fault: FileFault): SourceProblem
}

const kindsShownMax = 10
/** More are counted as they are met, and not remembered. */
const remembered = 10_000

export function faultsOf(): Faults {
  const texts = new Map<string, string>()
  let unnamed = 0
  let isNew = false
  return {
    begin: () => {
      texts.clear()
      unnamed = 0
    },
    add: (fault) => {
      isNew = true
      if (fault.key === undefined || texts.size >= remembered) unnamed += 1
      texts.set(fault.key !== undefined && texts.size < remembered ? fault.key : '', faultText(fault))
    },
    clear: (key) => {
      if (texts.size > 0 && texts.delete(key)) isNew = true
    },
    has: (key) => texts.has(key),
    count: () => texts.size - (texts.has('') ? 1 : 0) + unnamed,
    takeAdvice: () => {
      if (!isNew || texts.size === 0) return null
      isNew = false
      const kinds = [...new Set(texts.values())]
      const more = kinds.length - kindsShownMax
      const count = texts.size - (texts.has('') ? 1 : 0) + unnamed
      return [
        `${count} rows were skipped.`,
        ...kinds.slice(0, kindsShownMax),
        ...(more > 0 ? [`And ${more} other kinds of errors.`] : []),
      ].join(' ')
    },
    refused: (fault) =>
      new SourceProblem(
        'file_invalid',
        `The agent stopped at a row that the mapping does not fit. ${faultText(fault)}`,
        'Correct the row or the mapping. To send the other rows, leave out on_bad_line = "refuse_file".',
        { place: { table: fault.file, column: null } },
      ),
  }
}
