/** The version of this release of service, agent, portal and client. A test compares it with every package.json. */
export const releaseVersion = '0.2.0'

/**
 * Whether a version is of an earlier release. Versions are three whole numbers ("0.2.0"); what follows them, and a text of another form,
 * does not count as earlier.
 */
export function isEarlierRelease(version: string, than: string = releaseVersion): boolean {
  const [one, other] = [numbersOf(version), numbersOf(than)]
  if (one === null || other === null) return false
  const at = one.findIndex((number, place) => number !== other[place])
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0)
}

/** Whether a text is the version of a release and nothing else: three whole numbers without leading zeros. */
export function isReleaseVersion(version: unknown): version is string {
  return typeof version === 'string' && /^(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}$/.test(version)
}

function numbersOf(version: string): number[] | null {
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+]|$)/.exec(version)
  return match?.slice(1).map(Number) ?? null
}
