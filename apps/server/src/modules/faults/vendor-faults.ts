import { limits } from '@bridgework/contract'
import { faultPattern } from '@bridgework/contract/portal'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'

/** What befalls a request of the vendor API. */
export type Fault =
  | { kind: 'refused'; status: 401 | 429 | 503 }
  /** The connection is closed after so many bytes of the answer's body. */
  | { kind: 'cut'; bytes: number }
  | { kind: 'slow'; ms: number }

export type VendorFaults = {
  /** What befalls this request of the company, which is one less of those that were ordered; null: nothing. */
  take: (companyId: CompanyId) => Fault | null
  order: (companyId: CompanyId, text: string, requests: number) => void
  clear: (companyId: CompanyId) => void
  ordered: (companyId: CompanyId) => { text: string; requestsLeft: number } | null
  tokenLifetimeSeconds: (companyId: CompanyId) => number
  setTokenLifetime: (companyId: CompanyId, seconds: number) => void
}

/** More than a sandbox has vendors. */
const companiesMax = 1_000

/** The faults that vendors of a sandbox ordered for themselves. In memory: a restart of the sandbox ends them. */
export function createVendorFaults(): VendorFaults {
  const orders = new BoundedMap<CompanyId, { text: string; requestsLeft: number }>(companiesMax)
  const lifetimes = new BoundedMap<CompanyId, number>(companiesMax)
  return {
    take(companyId) {
      const order = orders.get(companyId)
      if (!order) return null
      order.requestsLeft -= 1
      if (order.requestsLeft === 0) orders.delete(companyId)
      return parseFault(order.text)
    },
    order: (companyId, text, requests) => orders.set(companyId, { text, requestsLeft: requests }),
    clear: (companyId) => orders.delete(companyId),
    ordered: (companyId) => orders.get(companyId) ?? null,
    tokenLifetimeSeconds: (companyId) => lifetimes.get(companyId) ?? limits.tokenLifetimeSeconds,
    setTokenLifetime: (companyId, seconds) => lifetimes.set(companyId, seconds),
  }
}

const form = new RegExp(faultPattern)

/** `429`, `503`, `401`, `cut:200` or `slow:1500`; null: anything else. */
export function parseFault(text: string): Fault | null {
  if (!form.test(text)) return null
  const [kind = '', amount = '0'] = text.split(':')
  if (kind === 'cut') return { kind, bytes: Number(amount) }
  if (kind === 'slow') return { kind, ms: Number(amount) }
  return { kind: 'refused', status: kind === '401' ? 401 : kind === '429' ? 429 : 503 }
}
