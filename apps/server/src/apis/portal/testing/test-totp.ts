import { createHmac } from 'node:crypto'

/** The one-time password of a moment (RFC 6238), as an authenticator app shows it that was given the secret in base 32. */
export function codeOf(secret: string, laterMs: number): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  const bytes = bits.join('').match(/.{8}/g) ?? []
  const key = Buffer.from(bytes.map((each) => Number.parseInt(each, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor((Date.now() + laterMs) / 30_000)))
  const mac = createHmac('sha1', key).update(step).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
