import { locale } from './locale.ts'

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** 1536 → "1.5 KiB". */
export function bytesInWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  const value = bytes / 1024 ** power
  return `${value.toLocaleString(locale, { maximumFractionDigits: power === 0 ? 0 : 1 })} ${units[power]}`
}
