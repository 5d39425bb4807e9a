import { useState } from 'react'

/**
 * The value, or while `isHeld` the one with which that began. What a person decides about stays as they read it, while the page behind it follows what
 * others change.
 */
export function useHeld<T>(value: T, isHeld: boolean): T {
  const [held, setHeld] = useState<{ value: T } | null>(null)
  // While it renders, as React advises for state that follows a property: no frame shows another value.
  if (isHeld && held === null) setHeld({ value })
  if (!isHeld && held !== null) setHeld(null)
  return isHeld && held !== null ? held.value : value
}
