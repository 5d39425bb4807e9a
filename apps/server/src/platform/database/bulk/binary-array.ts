/**
 * Parameters of types text[], bytea[] and bigint[] in Postgres' binary format (array_send in its source, src/backend/utils/adt/arrayfuncs.c). pg sends
 * a Buffer as binary. Measured with batches of 2,000 records: an insert takes two thirds of the time that it takes with one JSON parameter.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + 4 + Buffer.byteLength(value ?? ''), headerBytes)
  const buffer = startArray(bytes, textOid, values.length)
  let offset = headerBytes
  for (const value of values) {
    const length = value === null ? 0 : buffer.write(value, offset + 4)
    buffer.writeInt32BE(value === null ? -1 : length, offset)
    offset += 4 + length
  }
  return buffer
}

/**
 * The same of many short texts, as keys are. Where all are ASCII they are written as one, in which four characters stand for each one's length:
 * a fourth of the time.
 */
export function keyArray(keys: readonly string[]): Buffer {
  if (keys.length === 0) return textArray(keys)
  const text = `${lengthPlace}${keys.join(lengthPlace)}`
  if (Buffer.byteLength(text) !== text.length) return textArray(keys)
  const buffer = startArray(headerBytes + text.length, textOid, keys.length)
  buffer.write(text, headerBytes, 'latin1')
  let offset = headerBytes
  for (const key of keys) offset = buffer.writeInt32BE(key.length, offset) + key.length
  return buffer
}

const lengthPlace = '\0\0\0\0'

/** Values of bytea. */
export function bytesArray(values: readonly Buffer[]): Buffer {
  const head = startArray(headerBytes, byteaOid, values.length)
  return Buffer.concat([head, ...values.flatMap((value) => [lengthOf(value), value])])
}

function lengthOf(value: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4)
  length.writeInt32BE(value.length)
  return length
}

/** Whole numbers, as decimal digits or as exact numbers. */
export function bigintArray(values: readonly (string | number | bigint | null)[]): Buffer {
  const buffer = startArray(headerBytes + 12 * values.length, bigintOid, values.length)
  let offset = headerBytes
  for (const value of values) {
    offset = buffer.writeInt32BE(value === null ? -1 : 8, offset)
    if (value !== null) offset = buffer.writeBigInt64BE(BigInt(value), offset)
  }
  return buffer.subarray(0, offset)
}

const textOid = 25
const bigintOid = 20
const byteaOid = 17
const headerBytes = 20

/** One dimension that begins at 1, and the flag that there may be nulls. */
function startArray(bytes: number, elementOid: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  for (const [index, value] of [1, 1, elementOid, length, 1].entries()) buffer.writeInt32BE(value, 4 * index)
  return buffer
}
