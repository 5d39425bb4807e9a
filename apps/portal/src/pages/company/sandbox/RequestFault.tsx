import { NumberInput, Select } from '@mantine/core'
import { useState } from 'react'
import { SandboxAct } from './SandboxAct.tsx'

type Kind = '429' | '503' | '401' | 'cut' | 'slow'

const kinds: readonly { value: Kind; label: string }[] = [
  { value: '429', label: '429 with Retry-After' },
  { value: '503', label: '503 with Retry-After' },
  { value: '401', label: '401, token expired' },
  { value: 'cut', label: 'Cut the answer' },
  { value: 'slow', label: 'Answer late' },
]

/** Of the kinds that have one: how much of it. */
const amounts = {
  cut: { label: 'After bytes', initial: 200, min: 0, max: 9_999_999 },
  slow: { label: 'Milliseconds', initial: 1500, min: 1, max: 30_000 },
}

/** Orders a fault for the company's next requests. */
export function RequestFault() {
  const [kind, setKind] = useState<Kind>('429')
  const amount = kind === 'cut' || kind === 'slow' ? amounts[kind] : null
  const [value, setValue] = useState<number | string>('')
  return (
    <SandboxAct
      button="Order the fault"
      amount={{ label: 'Requests', initial: 3, min: 1, max: 1000 }}
      isReady={!amount || (typeof value === 'number' && value >= amount.min && value <= amount.max)}
      fields={
        <>
          <Select
            label="Fault"
            data={kinds}
            value={kind}
            onChange={(chosen) => {
              if (chosen === null) return
              setKind(chosen)
              setValue(chosen === 'cut' || chosen === 'slow' ? amounts[chosen].initial : '')
            }}
            allowDeselect={false}
            w={200}
          />
          {amount && (
            <NumberInput
              label={amount.label}
              value={value}
              onChange={setValue}
              min={amount.min}
              max={amount.max}
              allowDecimal={false}
              w={130}
            />
          )}
        </>
      }
      action={(requests) => ({ action: 'fault', fault: amount ? `${kind}:${value}` : kind, requests })}
    >
      Your next requests of the vendor API fail like this.
    </SandboxAct>
  )
}
