/** 190 → "about 4 minutes": a time that is estimated, never told shorter than it is. */
export function aboutDuration(seconds: number): string {
  if (seconds < 60) return 'less than a minute'
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return minutes === 1 ? 'about 1 minute' : `about ${minutes} minutes`
  return `about ${Math.ceil(minutes / 60)} hours`
}
