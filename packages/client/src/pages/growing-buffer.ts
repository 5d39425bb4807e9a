/** Bytes that are appended to, in memory that is used again: what is allocated anew each time is not given back in time. */
export type GrowingBuffer = {
  append: (more: Uint8Array) => void
  /** What was appended and is not dropped, until the next `append` or `drop`. */
  bytes: () => Buffer
  /** Forgets the first `count` bytes. */
  drop: (count: number) => void
}

export function createGrowingBuffer(): GrowingBuffer {
  let memory = Buffer.of()
  let length = 0
  return {
    append(more) {
      if (length + more.length > memory.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (length + more.length))
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      memory.set(more, length)
      length += more.length
    },
    bytes: () => memory.subarray(0, length),
    drop(count) {
      memory.copyWithin(0, count, length)
      length -= count
    },
  }
}
