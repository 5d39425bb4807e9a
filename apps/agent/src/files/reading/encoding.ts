import iconv from 'iconv-lite'

/** Code pages of DOS, which the Encoding Standard leaves out though old programs still write them. */
const codePage = /^(?:cp|ibm)?(437|850)$/i

/** Takes every label of the Encoding Standard, and `cp437` and `cp850`. Throws a RangeError for another one. */
export function textDecoder(label: string): Pick<TextDecoder, 'encoding' | 'decode'> {
  const page = codePage.exec(label)?.[1]
  if (page === undefined) return new TextDecoder(label, { fatal: true })
  const encoding = `cp${page}`
  // Each byte is a character: none is wrong, and no two parts of a file share one.
  return { encoding, decode: (bytes) => (bytes === undefined ? '' : iconv.decode(bytes as Buffer, encoding)) }
}
