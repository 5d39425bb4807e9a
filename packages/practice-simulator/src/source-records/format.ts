import type { Practice } from '../practice.ts'

export function money(cents: number): string {
  return (cents / 100).toFixed(2)
}

export function textOrNull(text: string | undefined): string | null {
  return text?.trim() || null
}

/** First and last name; where nobody typed them in, the abbreviation. */
export function providerName(practice: Practice, key: string | null): string | null {
  const provider = practice.providers.get(key ?? '')
  if (provider === undefined) return null
  return textOrNull(`${provider.firstName} ${provider.lastName}`) ?? textOrNull(provider.abbreviation)
}

export function wordName(practice: Practice, key: string | null): string | null {
  return textOrNull(practice.definitions.get(key ?? '')?.name)
}
