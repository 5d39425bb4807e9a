import { delta } from './delta.ts'
import { wholeExport } from './export.ts'
import { firstSyncs } from './first-sync.ts'
import { fiveSyncs } from './five-syncs.ts'
import { growth } from './growth.ts'
import { ingest } from './ingest.ts'
import { page, smallPage } from './page.ts'
import type { WorkName } from './row.ts'
import { sealing } from './sealing.ts'
import { token } from './token.ts'
import type { Work } from './work.ts'

/** How each work is done. */
export const works: Record<WorkName, Work> = {
  page,
  'page-100': smallPage,
  delta,
  export: wholeExport,
  token,
  sealing,
  growth,
  ingest,
  'first-sync': firstSyncs,
  'five-syncs': fiveSyncs,
}
