import type { Route } from './route-entry.ts'
import type { SandboxState } from './sandbox.ts'

export type SandboxAnswers = {
  /** Null: the company has no practice yet. */
  getSandbox: { data: SandboxState | null }
  /** How many rows of the practice were altered. */
  driveSandbox: { rows: number }
}

/** What a company lets happen in its sandbox, as the sandbox API does. In production there are no such routes. */
export const sandboxRoutes = {
  getSandbox: { method: 'GET', path: '/companies/:company_id/sandbox', action: 'sandbox.read' },
  driveSandbox: { method: 'POST', path: '/companies/:company_id/sandbox/actions', action: 'sandbox.drive' },
} as const satisfies Record<string, Route>
