import { t } from '../../language/t.ts'

/** 190 → "about 4 minutes": a time that is estimated, never told shorter than it is. */
export function aboutDuration(seconds: number): string {
  if (seconds < 60) return t('less than a minute')
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return t('about {minutes, plural, one {1 minute} other {{minutes} minutes}}', { minutes })
  return t('about {hours} hours', { hours: Math.ceil(minutes / 60) })
}
