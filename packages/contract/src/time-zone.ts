/**
 * True for a name of the IANA time zone database that says what the offset is on any day: "America/Chicago", "UTC". Abbreviations ("CST",
 * "EST5EDT") and offsets ("-06:00") are none: the one stands for other hours in summer, the other does not change in summer.
 */
export function isTimeZone(name: string): boolean {
  // No two parts of the pattern match the same text: another one took seconds for 40 characters.
  if (name !== 'UTC' && !/^[A-Za-z][\w+-]*(?:\/[\w+-]+)+$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
