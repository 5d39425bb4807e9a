import { ingestBodies } from '@bridgework/contract/ingest'
import { Compile } from 'typebox/compile'
import { Problem } from '../../../platform/errors/problem.ts'

const { began_at_upload: numberSchema, source_ids } = ingestBodies.reconcile.properties
const isNumber = Compile(numberSchema)
const isKey = Compile(source_ids.items)

/** More bytes than any legal key has in JSON, with every character escaped. */
const stringBytesMax = 4_096

/**
 * Reads the JSON of a complete list as agents sent it before the protocol had a version, `{"began_at_upload":2,"source_ids":["12","13"]}` with
 * its members in any order, while it arrives: a list has millions of keys, and they never stand in memory together. Anything else throws.
 */
export function createSourceIdReader() {
  let expected: Expected = 'object'
  let member = ''
  let token: number[] | null = null
  let items: ReturnType<typeof createItems> | null = null
  let beganAtUpload: number | null = null

  const endToken = (text: string) => {
    token = null
    if (expected === 'number') {
      const number = parse(text)
      if (!isNumber.Check(number)) throw invalid(numberOnly)
      beganAtUpload = number
      expected = 'comma'
      return
    }
    member = String(parse(text))
    if (member !== 'began_at_upload' && member !== 'source_ids')
      throw invalid('The body has a member that is not known. Known: began_at_upload, source_ids.')
    if (member === 'source_ids' ? items !== null : beganAtUpload !== null)
      throw invalid(`The member ${member} of the body is there twice. Send it once.`)
    expected = 'colon'
  }

  const takePunctuation = (byte: number) => {
    const next = after[expected][String.fromCharCode(byte)]
    if (next === undefined) throw otherThanExpected(expected, byte)
    expected = next === 'value' ? (member === 'source_ids' ? 'list' : 'number') : next
    if (expected === 'items') items = createItems()
  }

  /** What stands around the list: a few bytes, or a body that is refused. */
  const takeByte = (byte: number) => {
    if (token !== null) {
      const isText = token[0] === quote
      if (!isText && !isNumeric(byte)) {
        endToken(textOf(Uint8Array.from(token)))
        if (!isSpace(byte)) takePunctuation(byte)
        return
      }
      const isEscaped = token.at(-1) === backslash
      token.push(byte)
      if (token.length > stringBytesMax)
        throw invalid('The body has a member that is not known. Known: began_at_upload, source_ids.')
      if (isText && byte === quote && !isEscaped) endToken(textOf(Uint8Array.from(token)))
    } else if (isSpace(byte)) return
    else if (byte === quote && (expected === 'first name' || expected === 'name')) token = [byte]
    else if (isNumeric(byte) && expected === 'number') token = [byte]
    else takePunctuation(byte)
  }

  return {
    /** Takes a piece and returns the keys that became whole with it. */
    take: (piece: Uint8Array): string[] => {
      let found: string[] = []
      for (let at = 0; at < piece.length; at++) {
        if (expected !== 'items' || items === null) {
          takeByte(piece[at] ?? 0)
          continue
        }
        const taken = items.take(piece.subarray(at))
        found = found.length === 0 ? taken.keys : found.concat(taken.keys)
        if (!taken.isOver) break
        at += taken.bytes
        expected = 'comma'
      }
      return found
    },
    /** The list's number, once the body has ended. */
    end: (): number => {
      if (expected !== 'end' || token !== null) throw new Problem('body_malformed')
      if (items === null) throw invalid('source_ids is missing.')
      if (beganAtUpload === null) throw invalid('began_at_upload is missing.')
      return beganAtUpload
    },
  }
}

/**
 * Reads what stands in the list, up to the bracket that ends it: `bytes` come before it in the piece. Only commas between keys are looked for, and
 * all keys up to the last one in a piece are parsed at once, which is twenty times as fast as key by key.
 */
function createItems() {
  let rest: Uint8Array = new Uint8Array()
  let isText = false
  let isEscaped = false
  let isFirst = true

  const keysOf = (text: string, isLast: boolean): string[] => {
    const keys: unknown[] = parse(`[${text}]`)
    if (keys.length === 0 && !(isLast && isFirst)) throw new Problem('body_malformed')
    isFirst = false
    for (const key of keys) if (!isKey.Check(key)) throw invalid(keysOnly)
    return keys as string[]
  }

  return {
    take: (piece: Uint8Array): { keys: string[]; isOver: boolean; bytes: number } => {
      let lastComma = -1
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at]
        if (isEscaped) isEscaped = false
        else if (byte === quote) isText = !isText
        else if (isText) isEscaped = byte === backslash
        else if (byte === comma) lastComma = at
        else if (byte === openBrace || byte === openBracket) throw invalid(keysOnly)
        else if (byte === closeBracket) {
          return { keys: keysOf(textOf(join(rest, piece.subarray(0, at))), true), isOver: true, bytes: at }
        }
      }
      const keys = lastComma < 0 ? [] : keysOf(textOf(join(rest, piece.subarray(0, lastComma))), false)
      rest = lastComma < 0 ? join(rest, piece) : piece.slice(lastComma + 1)
      if (rest.length > stringBytesMax) throw invalid('a key must have at most 255 characters.')
      return { keys, isOver: false, bytes: piece.length }
    },
  }
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.length === 0 ? other : Buffer.concat([one, other])
}

type Expected = 'object' | 'first name' | 'name' | 'colon' | 'number' | 'list' | 'items' | 'comma' | 'end'

/** Where a character leads from each state. `value`: that of the member. */
const after: Record<Expected, Record<string, Expected | 'value'>> = {
  object: { '{': 'first name' },
  'first name': { '}': 'end' },
  name: {},
  colon: { ':': 'value' },
  number: {},
  list: { '[': 'items' },
  items: {},
  comma: { ',': 'name', '}': 'end' },
  end: {},
}

/** Where another value stands than the one that belongs there the body is JSON all the same; anywhere else it is not. */
function otherThanExpected(expected: Expected, byte: number): Problem {
  const rule = ({ object: objectOnly, number: numberOnly, list: keysOnly } as Partial<Record<Expected, string>>)[
    expected
  ]
  return rule !== undefined && beginsValue.includes(byte) ? invalid(rule) : new Problem('body_malformed')
}

/** What a value of JSON begins with. */
const beginsValue = Buffer.from('{["-0123456789tfn')

const objectOnly = 'The body must be an object with the members began_at_upload and source_ids.'
const numberOnly = 'began_at_upload must be a whole number of at least 1.'
const keysOnly = 'source_ids must be a list of keys of 1 to 255 characters.'
const [quote, backslash, comma, openBrace, openBracket, closeBracket] = Buffer.from('"\\,{[]')

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isNumeric(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45 || byte === 0x65
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Problem('body_malformed', { errors: 'The request body is not valid UTF-8.', cause })
  }
}

function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Problem('body_malformed', { cause })
  }
}

function invalid(errors: string): Problem {
  return new Problem('field_invalid', { errors })
}
