import { datasets, vendorApiPath } from '@bridgework/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requirePrincipal } from '../../modules/consent/read-permit.ts'
import { registerChanges } from './changes/changes.ts'
import type { VendorApiContext } from './context.ts'
import { registerDataset } from './dataset-routes.ts'
import { registerDirectory } from './directory-routes.ts'
import { injectFaults } from './injected-fault.ts'
import { documentVendorApi } from './openapi/openapi.ts'
import { requireTurn } from './request-turn.ts'
import { requireToken, verifyBearer } from './token/authenticate.ts'
import { registerTokenRoute } from './token/token-route.ts'

/** HTTP under /api/v1/vendors: the contract with vendors, and its description. */
export async function registerVendorApi(
  app: FastifyInstance,
  context: VendorApiContext,
  publicUrl: string,
): Promise<void> {
  await app.register(async (vendorApi) => {
    await documentVendorApi(vendorApi, publicUrl)
    vendorApi.register(
      async (described) => {
        registerTokenRoute(described, context)
        described.register(async (protectedApi) => {
          requireToken(protectedApi, context.tokens)
          if (context.faults) injectFaults(protectedApi, context.faults)
          requireTurn(protectedApi, context)
          registerDirectory(protectedApi, context)
          registerChanges(protectedApi, context)
          for (const dataset of datasets) registerDataset(protectedApi, context, dataset)
        })
      },
      { prefix: vendorApiPath },
    )
  })
}

/** Before a 404 or 405 the token is checked, except on the open routes: a stranger learns no paths. */
export async function authenticateUnknownPath(
  context: VendorApiContext,
  request: FastifyRequest,
  route: string | null,
): Promise<void> {
  const path = route ?? decodedPath(request.raw.url ?? '')
  if (openRoutes.includes(path) || !path.startsWith(`${vendorApiPath}/`)) return
  await requirePrincipal(context.controlPool, await verifyBearer(context.tokens, request))
}

/** However it is spelled: escaped, or in absolute form. What cannot be decoded, the router has refused already. */
function decodedPath(target: string): string {
  const path = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return decodeURIComponent(path)
}

const openRoutes = [`${vendorApiPath}/auth/token`, `${vendorApiPath}/openapi.json`]
