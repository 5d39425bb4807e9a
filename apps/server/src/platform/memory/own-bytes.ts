const owned = new WeakSet<ArrayBufferLike>()

/**
 * Bytes in memory of their own, which `giveBack` frees at once. Left to the collector, some hundred KB for each page cause full
 * collections: measured, they took a third of a page's processor time.
 */
export function ownBytes(length: number): Buffer {
  return own(Buffer.allocUnsafeSlow(length))
}

/** Bytes whose memory nothing else is in, and nothing else reads. */
export function own(bytes: Buffer): Buffer {
  owned.add(bytes.buffer)
  return bytes
}

/**
 * Frees the memory that own bytes are in; what shares it has no bytes then. Only when nothing will read them: the system reads what is sent
 * until it has taken all of it. Other bytes are left to the collector.
 */
export function giveBack({ buffer }: Buffer): void {
  if (owned.delete(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
