/** A value of a row for `copy … from stdin (format binary)`: text; a whole number of 8 bytes; true or false; bytes; an instant. */
export type BinaryValue = string | bigint | boolean | Buffer | Date | null

/** Rows in Postgres' binary COPY format (section "Binary Format" of its page on COPY), in one buffer. */
export function packRows(rows: readonly (readonly BinaryValue[])[]): Buffer {
  let bytes = signature.length + trailerBytes
  for (const row of rows) {
    bytes += 2
    for (const value of row) bytes += 4 + bytesOf(value)
  }
  const buffer = Buffer.allocUnsafeSlow(bytes)
  let offset = signature.copy(buffer)
  for (const row of rows) {
    offset = buffer.writeInt16BE(row.length, offset)
    for (const value of row) {
      const length = value === null ? -1 : write(buffer, value, offset + 4)
      buffer.writeInt32BE(length, offset)
      offset += 4 + Math.max(length, 0)
    }
  }
  buffer.writeInt16BE(-1, offset)
  return buffer
}

function bytesOf(value: BinaryValue): number {
  if (value === null) return 0
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'boolean') return 1
  return Buffer.isBuffer(value) ? value.length : 8
}

/** Returns how many bytes that took. */
function write(buffer: Buffer, value: NonNullable<BinaryValue>, offset: number): number {
  if (typeof value === 'string') return buffer.write(value, offset)
  if (typeof value === 'boolean') return buffer.writeUInt8(Number(value), offset) - offset
  if (Buffer.isBuffer(value)) return value.copy(buffer, offset)
  const number = typeof value === 'bigint' ? value : BigInt(value.getTime() - epochMs) * 1000n
  return buffer.writeBigInt64BE(number, offset) - offset
}

/** Eleven bytes that name the format, no flag, no further header. */
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailerBytes = 2

/** Postgres counts from 2000. */
const epochMs = Date.UTC(2000, 0, 1)
