import { ingestBodies } from '@bridgework/contract/ingest'
import { Check } from 'typebox/value'
import { Problem } from '../../platform/errors/problem.ts'

const { began_at_upload: numberSchema, source_ids } = ingestBodies.reconcile.properties

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
  let isEscaped = false
  let found: string[] = []
  let beganAtUpload: number | null = null
  let hasList = false

  const endToken = (text: string) => {
    token = null
    if (expected === 'name' || expected === 'first name') {
      member = parse(text)
      if (member !== 'began_at_upload' && member !== 'source_ids')
        throw invalid('the body has a member that is not known.')
      if (member === 'source_ids' ? hasList : beganAtUpload !== null) throw invalid(`${member} is there twice.`)
      expected = 'colon'
    } else if (expected === 'number') {
      const number = parse(text)
      if (!Check(numberSchema, number)) throw invalid('began_at_upload must be a whole number of at least 1.')
      beganAtUpload = number
      expected = 'comma'
    } else {
      const sourceId = parse(text)
      if (!Check(source_ids.items, sourceId)) throw invalid('source_ids must be a list of keys of 1 to 255 characters.')
      found.push(sourceId)
      expected = 'list comma'
    }
  }

  const takePunctuation = (byte: number) => {
    const text = String.fromCharCode(byte)
    const next = after[expected][text]
    if (next === undefined) {
      if (expected === 'list' || expected === 'item' || expected === 'first item') {
        throw invalid('source_ids must be a list of keys of 1 to 255 characters.')
      }
      throw new Problem('body_malformed')
    }
    if (expected === 'colon') expected = member === 'source_ids' ? 'list' : 'number'
    else expected = next
    if (expected === 'first item') hasList = true
  }

  return {
    /** Takes a piece and returns the keys that became whole with it. */
    take: (piece: Uint8Array): string[] => {
      found = []
      for (const byte of piece) {
        if (token !== null) {
          const isText = token[0] === quote
          if (!isText && !isNumeric(byte)) {
            endToken(textOf(token))
            if (!isSpace(byte)) takePunctuation(byte)
            continue
          }
          token.push(byte)
          if (token.length > stringBytesMax) throw invalid('a key must have at most 255 characters.')
          if (isText && byte === quote && !isEscaped) endToken(textOf(token))
          isEscaped = byte === backslash && !isEscaped
        } else if (isSpace(byte)) continue
        else if (byte === quote && textExpected.has(expected)) {
          token = [byte]
          isEscaped = false
        } else if (isNumeric(byte) && expected === 'number') token = [byte]
        else takePunctuation(byte)
      }
      return found
    },
    /** The list's number, once the body has ended. */
    end: (): number => {
      if (expected !== 'end' || token !== null) throw new Problem('body_malformed')
      if (!hasList) throw invalid('source_ids is missing.')
      if (beganAtUpload === null) throw invalid('began_at_upload is missing.')
      return beganAtUpload
    },
  }
}

type Expected =
  | 'object'
  | 'first name'
  | 'name'
  | 'colon'
  | 'number'
  | 'list'
  | 'first item'
  | 'item'
  | 'list comma'
  | 'comma'
  | 'end'

/** Where a character leads from each state. */
const after: Record<Expected, Record<string, Expected>> = {
  object: { '{': 'first name' },
  'first name': { '}': 'end' },
  name: {},
  colon: { ':': 'number' },
  number: {},
  list: { '[': 'first item' },
  'first item': { ']': 'comma' },
  item: {},
  'list comma': { ',': 'item', ']': 'comma' },
  comma: { ',': 'name', '}': 'end' },
  end: {},
}

const textExpected: ReadonlySet<Expected> = new Set(['first name', 'name', 'first item', 'item'])
const quote = 0x22
const backslash = 0x5c

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isNumeric(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45 || byte === 0x65
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(bytes: readonly number[]): string {
  try {
    return utf8.decode(Uint8Array.from(bytes))
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
