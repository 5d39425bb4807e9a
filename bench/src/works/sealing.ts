import { measureSealing } from '../sealing.ts'
import { ours } from './row.ts'
import type { Work } from './work.ts'

/** What sealing the disclosures of this run costs: part of each page and delta, paid later. */
export const sealing: Work = async ({ world, say }) => {
  say('Sealing the disclosures of this run …')
  const begunAt = performance.now()
  const { disclosures, cpuMsPerDisclosure } = await measureSealing(world.ownerUrl, world.server)
  return [
    {
      work: 'sealing',
      name: 'sealing of disclosures',
      who: ours,
      connections: 1,
      perSecond: disclosures / ((performance.now() - begunAt) / 1000),
      cpuMs: cpuMsPerDisclosure,
      bytes: null,
      ratio: null,
      target: null,
    },
  ]
}
