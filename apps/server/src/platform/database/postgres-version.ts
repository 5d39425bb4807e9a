/**
 * The newest minor version of each major one that the project knew on 1 September 2026 (https://www.postgresql.org/support/versioning/), and
 * when the major one is no longer supported. A newer minor version than this is up to date.
 */
const releases: Record<number, { minor: number; endsOn: string }> = {
  18: { minor: 4, endsOn: '2030-11-14' },
  17: { minor: 10, endsOn: '2029-11-08' },
  16: { minor: 14, endsOn: '2028-11-09' },
  15: { minor: 18, endsOn: '2027-11-11' },
  14: { minor: 23, endsOn: '2026-11-12' },
}

/** Why a server of this version (as `server_version_num` has it, 180004) should be updated; null: it need not be. */
export function outdatedPostgres(versionNumber: number, now: Date): string | null {
  const [major, minor] = [Math.floor(versionNumber / 10_000), versionNumber % 10_000]
  const known = releases[major]
  const version = `PostgreSQL ${major}.${minor}`
  if (known === undefined) return major > 18 ? null : `${version} is not supported any more`
  if (now.toISOString().slice(0, 10) > known.endsOn) return `${version} is not supported since ${known.endsOn}`
  return minor < known.minor ? `${version} is older than ${major}.${known.minor}, which mends errors` : null
}
