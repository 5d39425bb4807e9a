import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const pauseMs = 300

/**
 * The text of a field that is applied, without the blanks around it, when the person has stopped typing. `value`: what is in force; when others
 * change it, as the back button does, the field shows that. What the person typed stays as it was typed.
 */
export function useTypedText(value: string, apply: (text: string) => void): [string, (typed: string) => void] {
  const [text, setText] = useState(value)
  const own = useRef(value)
  useEffect(() => {
    if (value === own.current) return
    own.current = value
    setText(value)
  }, [value])
  const applyLater = useDebouncedCallback((typed: string) => {
    own.current = typed.trim()
    apply(own.current)
  }, pauseMs)
  return [
    text,
    (typed) => {
      setText(typed)
      applyLater(typed)
    },
  ]
}
