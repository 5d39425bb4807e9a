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
    if (span) run.sha256.update(span.within.subarray(span.from, span.to))
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
    add({ bytes, within }: Line, sourceId: string, hash: string): void {
      if (bytes.length > runBytes) {
        pass()
        return
      }
      const isFirst = run.sourceIds.length === 0
      const from = bytes.byteOffset - within.byteOffset
      const to = from + bytes.length
      // Their line feed is between them. In the memory of two pieces, another request's byte may be.
      if (run.span?.within === within && run.span.to + 1 === from) run.span.to = to
      else {
        flush()
        if (!isFirst) run.sha256.update('\n')
        run.span = { within, from, to }
      }
      run.sourceIds.push(sourceId)
      run.hashes.push(hash)
      run.bytes += bytes.length + Number(!isFirst)
      allBytes += bytes.length
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

type Span = { within: Buffer; from: number; to: number }

/** A line of an upload, and the bytes that it is a part of. */
export type Line = { bytes: Buffer; within: Buffer }

/** A run of so many bytes is compared at once; where one of its records has changed, its lines are looked up by themselves. */
const runBytes = 32 * 1024
