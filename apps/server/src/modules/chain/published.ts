import { createReadStream } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Queryable } from '../../platform/database/queryable.ts'
import { sealText, sha256 } from './seal.ts'
import { listSeals } from './store.ts'

/** Published seals, read in order of number with flat memory. */
export type PublishedSeals = {
  /** The hashes of what was published under this number, in hex. Ask in rising order. */
  hashesOf: (number: number) => Promise<string[]>
  /** The highest number; 0 when there is none. Reads to the end. */
  newest: () => Promise<number>
}

type Line = { number: number; text: string; signature: string }

const sealsAtOnce = 1_000

/**
 * Appends every seal that the folder does not have yet: a line of JSON each, in a file for each day on which seals were made. A file is only
 * ever added to. What is on the disk already says where to go on, so a crash between a seal and its line loses nothing.
 */
export async function publishSeals(db: Queryable, folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  let after = await lastPublished(folder)
  for (let count = 0; ; ) {
    const seals = await listSeals(db, { after, until: new Date(8.64e15), limit: sealsAtOnce })
    const days = Map.groupBy(seals, (seal) => seal.sealedAt.slice(0, 10))
    for (const [day, ofDay] of days) {
      const lines = ofDay.map((seal) => {
        const line: Line = {
          number: seal.number,
          text: sealText(seal),
          signature: seal.signature.toString('base64url'),
        }
        return `${JSON.stringify(line)}\n`
      })
      await append(join(folder, `seals-${day}.ndjson`), lines.join(''))
    }
    count += seals.length
    after = seals.at(-1)?.number ?? after
    if (seals.length < sealsAtOnce) return count
  }
}

/** Reads the folder that `publishSeals` writes. A line that was cut off by a crash is passed over: the seal follows once more. */
export async function openPublishedSeals(folder: string): Promise<PublishedSeals> {
  const lines = readLines(await filesOf(folder), folder)
  let next = await lines.next()
  let newest = 0
  const step = async () => {
    if (!next.done) newest = Math.max(newest, next.value.number)
    next = await lines.next()
  }
  return {
    async hashesOf(number) {
      const found: string[] = []
      while (!next.done && next.value.number <= number) {
        if (next.value.number === number) found.push(sha256(next.value.text).toString('hex'))
        await step()
      }
      return found
    },
    async newest() {
      while (!next.done) await step()
      return newest
    },
  }
}

async function lastPublished(folder: string): Promise<number> {
  let last = 0
  for (const file of (await filesOf(folder)).toReversed()) {
    for await (const { number } of readLines([file], folder)) last = Math.max(last, number)
    if (last > 0) return last
  }
  return last
}

async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^seals-\d{4}-\d{2}-\d{2}\.ndjson$/.test(name)).toSorted()
}

async function* readLines(files: readonly string[], folder: string): AsyncGenerator<Line, undefined> {
  for (const file of files) {
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      const line = parse(text)
      if (line !== null) yield line
    }
  }
}

function parse(text: string): Line | null {
  try {
    const line = JSON.parse(text) as Partial<Line>
    return Number.isSafeInteger(line.number) && typeof line.text === 'string' ? (line as Line) : null
  } catch {
    return null
  }
}

/** On the disk when it returns. A line that a crash cut off before is ended first, so that it spoils no other. */
async function append(path: string, text: string): Promise<void> {
  const file = await open(path, 'a+')
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(1)
    if (size > 0) await file.read(end, 0, 1, size - 1)
    await file.appendFile(size > 0 && end.toString() !== '\n' ? `\n${text}` : text)
    await file.sync()
  } finally {
    await file.close()
  }
}
