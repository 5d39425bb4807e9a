/** A part of a key: a column, or a constant. */
export type KeyPart = string | { readonly constant: string }

/**
 * One text as it is; several joined by `-`. A `-` or `~` within one of them follows a `~`, so that no two records have the same key: 1 and 2-3 are
 * `1-2~-3`, and 1-2 and 3 are `1~-2-3`.
 */
export function joinedKey(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] ?? '') : parts.map((part) => part.replaceAll(/[~-]/g, '~$&')).join('-')
}
