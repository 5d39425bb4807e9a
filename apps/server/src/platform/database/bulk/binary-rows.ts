/** A value of a row for `copy … from stdin (format binary)`: text; a whole number of 8 bytes; true or false; bytes; an instant. */
export type BinaryValue = string | bigint | boolean | Buffer | Date | null

/** Rows in Postgres' binary COPY format (section "Binary Format" of its page on COPY), in one buffer. `common`: the values that each of them begins with. */
export function packRows(common: readonly BinaryValue[], rows: readonly (readonly BinaryValue[])[]): Buffer {
  const head = packValues(common)
  let bytes = signature.length + trailerBytes
  for (const row of rows) bytes += countBytes + head.length + bytesOfAll(row)
  const buffer = Buffer.allocUnsafeSlow(bytes)
  const view = viewOf(buffer)
  let offset = signature.copy(buffer)
  for (const row of rows) {
    view.setInt16(offset, common.length + row.length)
    offset += countBytes
    offset += head.copy(buffer, offset)
    offset = writeAll(buffer, view, row, offset)
  }
  view.setInt16(offset, -1)
  return buffer
}

function packValues(values: readonly BinaryValue[]): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytesOfAll(values))
  writeAll(buffer, viewOf(buffer), values, 0)
  return buffer
}

function bytesOfAll(values: readonly BinaryValue[]): number {
  let bytes = 0
  for (const value of values) bytes += lengthBytes + bytesOf(value)
  return bytes
}

function bytesOf(value: BinaryValue): number {
  if (value === null) return 0
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'boolean') return 1
  return Buffer.isBuffer(value) ? value.length : 8
}

/** Returns where the next value begins. */
function writeAll(buffer: Buffer, view: DataView, values: readonly BinaryValue[], from: number): number {
  let offset = from
  for (const value of values) {
    const length = value === null ? -1 : write(buffer, view, value, offset + lengthBytes)
    view.setInt32(offset, length)
    offset += lengthBytes + Math.max(length, 0)
  }
  return offset
}

/** Returns how many bytes that took. */
function write(buffer: Buffer, view: DataView, value: NonNullable<BinaryValue>, offset: number): number {
  if (typeof value === 'string') return buffer.write(value, offset)
  if (typeof value === 'boolean') {
    view.setInt8(offset, Number(value))
    return 1
  }
  if (Buffer.isBuffer(value)) return value.copy(buffer, offset)
  view.setBigInt64(offset, typeof value === 'bigint' ? value : BigInt(value.getTime() - epochMs) * 1000n)
  return 8
}

/** Buffer's own methods take several times as long for a whole number, and a row has a dozen. */
function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Eleven bytes that name the format, no flag, no further header. */
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailerBytes = 2
const countBytes = 2
const lengthBytes = 4

/** Postgres counts from 2000. */
const epochMs = Date.UTC(2000, 0, 1)
