/**
 * The CRC-32 of two texts one after the other, from the CRC-32 of each and the length of the second in bytes: the first is carried over as many
 * zero bytes as the second has (a product of polynomials over GF(2), modulo that of CRC-32), and the second added.
 */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  return (times(shiftBy(secondBytes), first) ^ second) >>> 0
}

// A polynomial of degree up to 31 in a whole number, its highest bit the coefficient of 1.
const one = 0x80000000
const crcPolynomial = 0xedb88320

/** x to the power of 1, 2, 4, 8 …: enough for any whole number of bits. */
const powers: number[] = [one >>> 1]
while (powers.length < 56) {
  const last = powers.at(-1) ?? one
  powers.push(times(last, last))
}

/** x to the power of eight times so many bytes. */
function shiftBy(bytes: number): number {
  let product = one
  for (let power = 3, left = bytes; left > 0; power += 1, left = Math.floor(left / 2)) {
    if (left % 2 === 1) product = times(powers[power] ?? one, product)
  }
  return product
}

function times(left: number, right: number): number {
  let product = 0
  let shifted = right | 0
  // As signed 32-bit numbers, whose sign is the coefficient of 1: half the time of doubles.
  for (let bits = left | 0; bits !== 0; bits <<= 1) {
    if (bits < 0) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ crcPolynomial : shifted >>> 1
  }
  return product >>> 0
}
