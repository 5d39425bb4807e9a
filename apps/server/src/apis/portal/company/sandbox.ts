import { driveSandbox, findSandbox, type SandboxDrive } from '../../../modules/faults/drive.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { PortalContext, PortalHandlers } from '../shared/context.ts'

/** What a company lets happen in its own demo practice and to its own requests: the sandbox API for people. In production there are no such routes. */
export const sandboxHandlers: PortalHandlers<'getSandbox' | 'driveSandbox'> = {
  getSandbox: async (context, { member }) => ({ data: await findSandbox(requireDrive(context), member.companyId) }),

  driveSandbox: async (context, { member, body }) => ({
    rows: await driveSandbox(requireDrive(context), member.companyId, body),
  }),
}

function requireDrive({ drive }: PortalContext): SandboxDrive {
  if (!drive) throw new Problem('route_unknown')
  return drive
}
