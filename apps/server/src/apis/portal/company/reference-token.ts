import { listKeyPairs } from '../../../modules/credentials/key-pair.ts'
import { demoVendorName, listCompanies } from '../../../modules/directory/company.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** The token that the API reference fills in: the demo vendor's, which reads invented records alone. In production there is none. */
export const referenceTokenHandlers: PortalHandlers<'getReferenceToken'> = {
  getReferenceToken: async ({ pool, tokens, environment }) => {
    if (environment !== 'sandbox') return { token: null }
    const vendor = (await listCompanies(pool)).find(({ name }) => name === demoVendorName)
    const pair = vendor && (await listKeyPairs(pool, vendor.id)).find(({ state }) => state.state === 'live')
    return { token: vendor && pair ? await tokens.issue(vendor.id, pair.id) : null }
  },
}
