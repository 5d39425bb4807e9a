import { related } from '../indexes.ts'
import type { Practice } from '../practice.ts'
import type { Random } from '../random.ts'
import type { Provider } from '../rows/people.ts'
import { addDays, atMinute, minuteOf, weekdayOf } from '../wall-time.ts'

const lunch = { from: 12 * 60, to: 13 * 60 }
const stepMinutes = 10

/** When this provider and this patient are both free, on that day or one of the next; null when neither is within two months. */
export function findSlot(
  practice: Practice,
  random: Random,
  wanted: {
    provider: Provider
    patientKey: string | null
    minutes: number
    from: string
    /** Wall time before which nothing can begin. */
    after?: string
    daysMax?: number
  },
): string | null {
  const { provider, patientKey, minutes, from, after = '', daysMax = 60 } = wanted
  const patientDays = new Set(
    related(practice, 'appointments', 'patient', patientKey).flatMap((visit) =>
      visit.startsAt === null || visit.status === 'broken' ? [] : [visit.startsAt.slice(0, 10)],
    ),
  )
  for (let n = 0; n < daysMax; n++) {
    const day = addDays(from, n)
    if (!provider.weekdays.includes(weekdayOf(day)) || patientDays.has(day)) continue
    const starts = freeStarts(practice, provider, day, minutes).filter((start) => atMinute(day, start) > after)
    // The first free quarter of the day is what people take; some choose another.
    if (starts.length > 0) {
      const start = random.chance(0.5) ? starts[0] : random.pick(starts)
      return atMinute(day, start ?? 0)
    }
  }
  return null
}

function freeStarts(practice: Practice, provider: Provider, day: string, minutes: number): number[] {
  const busy = related(practice, 'appointments', 'day', `${provider.key}/${day}`).map((visit) => {
    const from = minuteOf(visit.startsAt ?? '')
    return { from, to: from + visit.minutes }
  })
  busy.push(lunch)
  const starts: number[] = []
  for (let start = provider.fromMinute; start + minutes <= provider.toMinute; start += stepMinutes) {
    if (busy.every(({ from, to }) => start + minutes <= from || start >= to)) starts.push(start)
  }
  return starts
}
