import { createHash } from 'node:crypto'
import { hashRecords, type SentRun } from '../../modules/records/line-run.ts'

/** Gathers runs of an upload's lines, by whose bytes they can be known when they are sent again. */
export function createSentRuns() {
  const runs: SentRun[] = []
  let run = startRun()
  let allBytes = 0

  /** Bytes may be given back after it. */
  const flush = () => {
    const { span } = run
    if (span) run.sha256.update(Buffer.from(span.memory, span.from, span.to - span.from))
    run.span = null
  }
  /** A line that is in no run comes next: the one before it ends. */
  const end = () => {
    if (run.sourceIds.length === 0) return
    flush()
    const [{ sourceIds, hashes, bytes }, firstSourceId, lastSourceId] = [run, run.sourceIds[0], run.sourceIds.at(-1)]
    if (bytes >= runBytesMin && firstSourceId !== undefined && lastSourceId !== undefined) {
      const recordsSha256 = hashRecords(sourceIds, hashes.join(''))
      const sha256 = run.sha256.digest('hex')
      runs.push({ firstSourceId, lastSourceId, records: sourceIds.length, bytes, sha256, recordsSha256 })
    }
    run = startRun()
  }

  return {
    flush,
    end,
    /** A line in canonical form: its key, and the hash of its attributes' text. */
    add(line: Buffer, sourceId: string, hash: string): void {
      if (line.length > runBytes) {
        end()
        return
      }
      const isFirst = run.sourceIds.length === 0
      const to = line.byteOffset + line.length
      // One line feed is between them in the same memory.
      if (run.span?.memory === line.buffer && run.span.to + 1 === line.byteOffset) run.span.to = to
      else {
        flush()
        if (!isFirst) run.sha256.update('\n')
        run.span = { memory: line.buffer, from: line.byteOffset, to }
      }
      run.sourceIds.push(sourceId)
      run.hashes.push(hash)
      run.bytes += line.length + Number(!isFirst)
      allBytes += line.length
      if (run.bytes >= runBytes) end()
    },
    /** None of a small upload, whose records are most often changed ones from here and there. */
    all(): SentRun[] {
      end()
      return allBytes < runBytes ? [] : runs
    },
  }
}

/** `span`: the last lines, which are not hashed yet. */
function startRun() {
  return {
    sourceIds: [] as string[],
    hashes: [] as string[],
    bytes: 0,
    sha256: createHash('sha256'),
    span: null as Span | null,
  }
}

type Span = { memory: ArrayBufferLike; from: number; to: number }

/** A run of so many bytes is compared at once; where one of its records has changed, its lines are looked up by themselves. */
const runBytes = 32 * 1024
/** Some ten records: fewer are looked up as fast. */
const runBytesMin = 4 * 1024
