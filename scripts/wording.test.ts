import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** Faults of grammar that a text can have, also where a part of it is filled in. Words that sound otherwise than they are spelt are left out. */
const faults: readonly [what: string, pattern: RegExp][] = [
  ['"a" before a vowel', /\b[Aa] (?!one\b|once\b|eu)[aeio][a-z]{3,}\b/g],
  [
    '"an" before a consonant',
    /\b[Aa]n (?!hour|honest|heir|html|http|smtp|xml|nginx|mysql)[bcdfghjklmnpqrstvwxyz][a-z]{3,}\b/g,
  ],
  ['"a" before a role, which may be an owner', /\ba (?:\$?\{role\}|\$\{words\[)/g],
  ['"since" or "for" before a time that ends in "ago"', /\b(?:since|for) (?:<When\b|\$\{shortInstant)/g],
  ['a sentence about "it" after a list of names', /\$\{about\}\. It (?:can|may)\b/g],
]

function faultsIn(text: string): string[] {
  return faults.flatMap(([what, pattern]) => [...text.matchAll(pattern)].map(([found]) => `${what}: ${found}`))
}

test('no sentence of the code or of the guides has "a" before a vowel, "since … ago" or their like', () => {
  const files = globSync(['{apps,packages}/*/src/**/*.{ts,tsx}', 'docs/**/*.md', '*.md'], {
    cwd: root,
    // Spanish.
    exclude: ['apps/portal/src/language/es/**'],
  }).filter((file) => !/\.test\.ts$|\/testing\//.test(file))
  assert.ok(files.length > 500, `${files.length} files`)
  const found = files.flatMap((file) =>
    faultsIn(readFileSync(join(root, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  )
  assert.deepEqual(found, [])
})

test('the faults are found where they are, and not where a word only looks like one', () => {
  for (const wrong of [
    'Made Bob a owner',
    'an member',
    'since <When at={at} />',
    'a \u0024{role}',
    '\u0024{about}. It can now send',
  ]) {
    assert.equal(faultsIn(wrong).length, 1, wrong)
  }
  for (const right of [
    'an owner',
    'a one-time code',
    'a European date',
    'an hour',
    'began <When at={at} />',
    'a user',
  ]) {
    assert.deepEqual(faultsIn(right), [], right)
  }
})
