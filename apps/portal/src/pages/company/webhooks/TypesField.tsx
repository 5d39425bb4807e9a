import type { Webhook } from '@bridgework/contract/portal'
import { Checkbox, Stack } from '@mantine/core'
import { allTypes, webhookTypes } from './webhook-types.ts'

/** Which types of messages a webhook gets. */
export function TypesField({
  value,
  onChange,
}: {
  value: Webhook['types']
  onChange: (types: Webhook['types']) => void
}) {
  return (
    <Checkbox.Group
      label="Types of messages"
      value={value}
      onChange={(chosen) => onChange(allTypes.filter((type) => chosen.includes(type)))}
    >
      <Stack gap="xs" mt="xs">
        {allTypes.map((type) => (
          <Checkbox key={type} value={type} label={type} description={webhookTypes[type]} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
