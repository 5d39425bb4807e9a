import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { citedCodes, notYet } from '../row-codes.ts'
import { mutantsOf } from './mutants.ts'
import { onlyOf, promisedRows, readRows } from './rows.ts'
import { isOf, readExplained } from './survivors.ts'

const root = join(import.meta.dirname, '../..')
const promised = promisedRows(root)

test('every code of docs/security.md has the code that it rests on, or says why there is none; and no other code', () => {
  const [text = ''] = readFileSync(join(root, 'docs/security.md'), 'utf8').split(notYet)
  const cited = new Set(citedCodes(text))
  const rows = readRows()

  assert.deepEqual([...new Set(rows.flatMap(({ codes }) => codes))].toSorted(), [...cited].toSorted())
  assert.deepEqual(
    rows.filter(({ places, why }) => places.length > 0 === (why !== '')),
    [],
  )
})

test('the code of every row exists, has something to mutate, and has tests', () => {
  const broken = promised.flatMap(({ codes, places, tests }) => {
    const empty = places.filter(
      ({ file, only }) => !existsSync(join(root, file)) || mutantsOf(root, file, only).length === 0,
    )
    return [...empty.map(({ file }) => `${codes}: ${file}`), ...(tests.length === 0 ? [`${codes}: no tests`] : [])]
  })

  assert.deepEqual(broken, [])
})

test('rows are chosen by their codes, and an unknown code is named', () => {
  assert.deepEqual(
    onlyOf(promised, ['T03', 'K18']).map(({ codes }) => codes.includes('T03') || codes.includes('K18')),
    [true, true],
  )
  assert.equal(onlyOf(promised, undefined), promised)
  assert.throws(() => onlyOf(promised, ['K18', 'Z99']), /belongs to Z99/)
})

test('every survivor that is explained can still be planted, once explained, in full sentences', () => {
  const explained = readExplained(root)
  const mutants = new Map(promised.flatMap(({ places }) => places).map(({ file }) => [file, mutantsOf(root, file)]))

  const gone = explained.filter((each) => !mutants.get(each.file)?.some((mutant) => isOf(each, mutant)))
  assert.deepEqual(gone, [])
  assert.deepEqual(
    explained.filter(({ why }) => !/^[A-Z`].{15,}\.$/.test(why)),
    [],
  )
  const keys = explained.map(({ file, where, was, is }) => [file, where, was, is].join('\n'))
  assert.equal(new Set(keys).size, keys.length)
})
