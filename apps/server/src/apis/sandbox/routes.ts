import { type SandboxAction, sandboxAction } from '@bridgework/contract/portal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { Compile } from 'typebox/compile'
import { requirePrincipal } from '../../modules/consent/read-permit.ts'
import type { TokenIssuer } from '../../modules/credentials/access-token.ts'
import { driveSandbox, readSandbox, type SandboxDrive } from '../../modules/faults/drive.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { requireToken, tokenOf } from '../vendor-api/token/authenticate.ts'

export const sandboxApiPath = '/sandbox/v1'

const actions = Compile(sandboxAction)

/** HTTP under /sandbox/v1: a vendor drives its own practice and its own faults, with the token of the vendor API. In a sandbox alone. */
export function registerSandboxApi(
  app: FastifyInstance,
  context: { controlPool: Pool; tokens: TokenIssuer; drive: SandboxDrive },
): void {
  const { controlPool, tokens, drive } = context
  requireToken(app, tokens)
  const companyOf = async (request: FastifyRequest) => (await requirePrincipal(controlPool, tokenOf(request))).companyId
  app.get('/', async (request) => ({
    data: await readSandbox(drive, await companyOf(request)),
    meta: { request_id: request.id },
  }))
  app.post('/actions', async (request) => {
    const companyId = await companyOf(request)
    const rows = await driveSandbox(drive, companyId, readAction(request.body))
    return { data: await readSandbox(drive, companyId), meta: { rows, request_id: request.id } }
  })
}

/** Throws Problem `field_invalid`, which names the guide's table of actions. */
export function readAction(body: unknown): SandboxAction {
  if (actions.Check(body)) return body
  throw new Problem('field_invalid', {
    errors: 'The body must be one of the actions of the guide "Drive the sandbox", with its members and no other.',
  })
}
