import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './change.ts'
import { oneLine } from './mutants.ts'
import type { Mutated, RowOutcome } from './mutate.ts'

/** A fault that no test notices, and why that is right. `where` is the line of the source that has it, so that the fault is found when lines move. */
export type Explained = { file: string; where: string; was: string; is: string; why: string }

export const survivorsFile = 'scripts/mutate/survivors.json'

export function readExplained(root: string): Explained[] {
  return JSON.parse(readFileSync(join(root, survivorsFile), 'utf8'))
}

export function isOf({ file, where, was, is }: Explained, mutant: Mutant): boolean {
  return file === mutant.file && where === mutant.where && was === mutant.was && is === oneLine(mutant.is)
}

/** How many faults are noticed at least, of those planted. */
export const noticedShareMin = 0.95

export type Verdict = { table: string; survivors: string; share: number; isKept: boolean }

/** What a run shows: a line for each row, and all survivors, those without an explanation first. Kept: enough is noticed, all else explained, and no test is broken. */
export function judge({ rows, broken }: Mutated, explained: readonly Explained[]): Verdict {
  const all = uniqueOf(rows)
  const survived = all.filter(({ noticedBy }) => noticedBy === null)
  const share = all.length === 0 ? 1 : 1 - survived.length / all.length
  const lines = rows.map(({ codes, outcomes }) => {
    const left = outcomes.filter(({ noticedBy }) => noticedBy === null).length
    return `| ${codes.map((code) => `\`${code}\``).join(' ')} | ${outcomes.length} | ${outcomes.length - left} | ${left} |`
  })
  const total = `| all, each fault once | ${all.length} | ${all.length - survived.length} | ${survived.length} |`
  const whyOf = (mutant: Mutant) => explained.find((each) => isOf(each, mutant))?.why
  const unexplained = survived.filter(({ mutant }) => whyOf(mutant) === undefined)
  const known = survived.filter((each) => !unexplained.includes(each))
  return {
    table: ['| rows | faults | noticed | survived |', '| --- | ---: | ---: | ---: |', ...lines, total].join('\n'),
    survivors: [...unexplained, ...known]
      .map(({ mutant, reached }) => {
        const { file, line, where, was } = mutant
        const text = JSON.stringify({ file, where, was, is: oneLine(mutant.is), why: whyOf(mutant) ?? '' })
        return `${file}:${line}, run by ${reached} test files\n  ${text}`
      })
      .join('\n'),
    share,
    isKept: share >= noticedShareMin && unexplained.length === 0 && broken.length === 0,
  }
}

function uniqueOf(rows: readonly RowOutcome[]) {
  return [...new Map(rows.flatMap(({ outcomes }) => outcomes).map((each) => [each.mutant, each])).values()]
}
