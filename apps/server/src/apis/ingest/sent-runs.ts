import { createHash } from 'node:crypto'
import { hashRecords, type SentRun, type StoredRun } from '../../modules/records/line-run.ts'

/** Gathers runs of an upload's lines, by whose bytes they can be known when they are sent again. */
export function createSentRuns() {
  /** In the order of the upload, with those that are known. */
  const runs: (SentRun | StoredRun)[] = []
  /** Whether each line is in one of them. */
  let areAll = true
  let run = startRun()
  let allBytes = 0

  /** Bytes may be given back after it. */
  const flush = () => {
    const { span } = run
    if (span) run.sha256.update(Buffer.from(span.memory, span.from, span.to - span.from))
    run.span = null
  }
  const end = () => {
    const [{ sourceIds, hashes, bytes }, firstSourceId, lastSourceId] = [run, run.sourceIds[0], run.sourceIds.at(-1)]
    if (firstSourceId === undefined || lastSourceId === undefined) return
    flush()
    const recordsSha256 = hashRecords(sourceIds, hashes.join(''))
    const sha256 = run.sha256.digest('hex')
    runs.push({ firstSourceId, lastSourceId, records: sourceIds.length, bytes, sha256, recordsSha256 })
    run = startRun()
  }
  /** A line that is in no run comes next: the one before it ends. */
  const pass = () => {
    areAll = false
    end()
  }

  return {
    flush,
    pass,
    /** A run that is known comes next. */
    take(known: StoredRun): void {
      end()
      runs.push(known)
      allBytes += known.bytes
    },
    /** A line in canonical form: its key, and the hash of its attributes' text. */
    add(line: Buffer, sourceId: string, hash: string): void {
      if (line.length > runBytes) {
        pass()
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
    /**
     * `known` and `sent` ones. Of a small upload none, whose records are most often changed ones from here and there. `all`: where the upload is
     * nothing but runs, all of them in its order.
     */
    ended() {
      end()
      const known = runs.filter((each) => 'firstId' in each)
      const sent = allBytes < runBytes ? [] : runs.filter((each): each is SentRun => !('firstId' in each))
      return { known, sent, all: areAll && known.length + sent.length === runs.length ? runs : null }
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
