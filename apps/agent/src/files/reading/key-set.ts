import { hash } from 'node:crypto'

/**
 * Which keys were there, for millions of them: 12 bytes of a hash for each, where a Set of texts takes some 100. Two keys of 5 million have the same
 * 96 bits with a probability of 10^-16.
 */
export type KeySet = {
  has(key: string): boolean
  /** False when the key was there. */
  add(key: string): boolean
  /** Marks a key; false when it is not there. Marks last until a key is added. */
  mark(key: string): boolean
  isMarked(key: string): boolean
}

const wordsPerKey = 3
const firstSlots = 1024
const fillMax = 0.7

export function keySet(): KeySet {
  let slots = firstSlots
  let words = new Uint32Array(slots * wordsPerKey)
  let count = 0
  let marks = new Uint8Array(0)

  /** Where these three words are, or the empty place where they belong. */
  const find = (of: Uint32Array, size: number, [one, two, three]: Words): number => {
    for (let slot = one & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const at = slot * wordsPerKey
      if (of[at] === 0 || (of[at] === one && of[at + 1] === two && of[at + 2] === three)) return at
    }
  }
  const grow = () => {
    const larger = new Uint32Array(slots * 2 * wordsPerKey)
    for (let at = 0; at < words.length; at += wordsPerKey) {
      const key: Words = [words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0]
      if (key[0] !== 0) larger.set(key, find(larger, slots * 2, key))
    }
    slots *= 2
    words = larger
  }

  return {
    has: (key) => {
      const sought = wordsOf(key)
      return words[find(words, slots, sought)] === sought[0]
    },
    add: (key) => {
      const added = wordsOf(key)
      const at = find(words, slots, added)
      if (words[at] === added[0]) return false
      words.set(added, at)
      count += 1
      if (count > slots * fillMax) grow()
      if (marks.length > 0) marks = new Uint8Array(0)
      return true
    },
    mark: (key) => {
      const sought = wordsOf(key)
      const at = find(words, slots, sought)
      if (words[at] !== sought[0]) return false
      if (marks.length === 0) marks = new Uint8Array(slots)
      marks[at / wordsPerKey] = 1
      return true
    },
    isMarked: (key) => marks[find(words, slots, wordsOf(key)) / wordsPerKey] === 1,
  }
}

type Words = readonly [number, number, number]

/** The first word is never 0: an empty place begins with it. */
function wordsOf(key: string): Words {
  const digest = hash('sha256', key, 'buffer')
  return [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4), digest.readUInt32LE(8)]
}
