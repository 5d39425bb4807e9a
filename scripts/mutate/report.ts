import { releaseVersion } from '../../packages/contract/src/release.ts'
import { noticedShareMin, survivorsFile, type Verdict } from './survivors.ts'

export const reportFile = 'docs/mutations.md'

/** The page of the last run. */
export function reportPage(verdict: Verdict, run: { seed: string; sample: number }): string {
  return `# Planted faults

Faults are planted in the code that each row of [security.md](security.md) rests on, one at a time, and the tests must
notice them: [why, and which faults](decisions/mutation-tests.md). \`npm run mutate -- --report\` writes this page before
a release.

At least ${noticedShareMin * 100} % must be noticed, and each fault that is not has its explanation in
\`${survivorsFile}\`. Last run, of version ${releaseVersion}: **${(verdict.share * 100).toFixed(1)} %** (seed ${run.seed}, at
most ${run.sample} faults for each row).

${verdict.table}
`
}
