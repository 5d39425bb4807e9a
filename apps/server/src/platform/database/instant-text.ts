/** SQL of an instant as text with its microseconds, as `2026-03-01T08:30:00.123456Z`, whatever the session's time zone and date style. */
export function instantText(instant: string): string {
  return `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
