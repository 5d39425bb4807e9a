import { spawnSync } from 'node:child_process'

/** The service that the installer for Windows makes. deploy/windows names it, too. */
export const windowsService = 'BridgeworkAgent'

/** Runs a program and returns its exit code; null when it could not be run. */
export type RunProgram = (program: string, args: readonly string[]) => number | null

/** Starts the service anew, so that it reads what set-up has written, and says how that went. Null: the service is not installed. */
export function restartWindowsService(run: RunProgram = runQuietly): string | null {
  if (run('sc.exe', ['query', windowsService]) !== 0) return null
  // It is not an error that it does not run yet.
  run('net.exe', ['stop', windowsService])
  return run('net.exe', ['start', windowsService]) === 0
    ? 'The service "Bridgework agent" runs. It starts with Windows.'
    : 'The service "Bridgework agent" did not start. Open "Services" and start it there; its log says why.'
}

function runQuietly(program: string, args: readonly string[]): number | null {
  return spawnSync(program, args, { stdio: 'ignore', windowsHide: true }).status
}
