/** From one time of day to a later one, `HH:MM` on the location's wall clock; `24:00` is the day's end. */
export type Opening = { opens: string; closes: string }

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

/** When a location is open. A day that is missing is a day off. */
export type OfficeHours = { readonly [day in Weekday]?: readonly Opening[] | undefined }

/** What tells whether a location is open: without a zone nobody can say, and then every hour counts. */
export type OpenTimes = { readonly timeZone: string | null; readonly officeHours: OfficeHours | null }

const weekday = [{ opens: '07:00', closes: '19:00' }]

/** The default for a location whose own hours are not known. */
export const usualOfficeHours: OfficeHours = {
  monday: weekday,
  tuesday: weekday,
  wednesday: weekday,
  thursday: weekday,
  friday: weekday,
  saturday: [{ opens: '08:00', closes: '14:00' }],
}

/**
 * How long the location was open from one instant to another, in milliseconds. No more than the last three weeks are looked at: by then
 * anything measured in minutes of open time is decided.
 */
export function openMsBetween({ timeZone, officeHours }: OpenTimes, from: Date, to: Date): number {
  const begin = Math.max(from.getTime(), to.getTime() - lookedAtMs)
  const end = to.getTime()
  if (end <= begin) return 0
  const zone = timeZone === null ? null : knownZone(timeZone)
  if (zone === null) return end - begin
  const hours = officeHours ?? usualOfficeHours
  let open = 0
  const lastDay = dayOf(end, zone)
  for (let day = dayOf(begin, zone); Temporal.PlainDate.compare(day, lastDay) <= 0; day = day.add({ days: 1 })) {
    for (const { opens, closes } of hours[weekdays[day.dayOfWeek - 1] ?? 'sunday'] ?? []) {
      open += Math.max(0, Math.min(end, instantOf(day, closes, zone)) - Math.max(begin, instantOf(day, opens, zone)))
    }
  }
  return open
}

const lookedAtMs = 21 * 24 * 60 * 60_000

function dayOf(instantMs: number, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(zone).toPlainDate()
}

function instantOf(day: Temporal.PlainDate, time: string, zone: string): number {
  const [date, plainTime] = time === '24:00' ? [day.add({ days: 1 }), '00:00'] : [day, time]
  return date.toZonedDateTime({ timeZone: zone, plainTime: Temporal.PlainTime.from(plainTime) }).epochMilliseconds
}

/** Agents send the zone as they find it; one that this computer does not know is none. */
function knownZone(name: string): string | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name
  } catch {
    return null
  }
}
