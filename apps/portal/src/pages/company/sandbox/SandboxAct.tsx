import type { SandboxAction } from '@bridgework/contract/portal'
import { Box, Button, Group, NumberInput, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { type ReactNode, useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { useCompanyParams } from '../company.ts'

type Amount = { label: string; initial: number; min: number; max: number }

/** Something that the company can let happen: what it does in words, its number where it has one, and its button. */
export function SandboxAct({
  button,
  amount,
  fields,
  isReady = true,
  action,
  children,
}: {
  button: string
  amount?: Amount
  /** Fields before the number. */
  fields?: ReactNode
  /** Whether these are filled in. */
  isReady?: boolean
  action: (amount: number) => SandboxAction
  children: ReactNode
}) {
  const params = useCompanyParams()
  const drive = useAct('driveSandbox')
  const [value, setValue] = useState<number | string>(amount?.initial ?? 0)
  const isWhole = !amount || (Number.isInteger(value) && Number(value) >= amount.min && Number(value) <= amount.max)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        drive.mutate(
          { params, body: action(Number(value)) },
          { onSuccess: ({ rows }) => notifications.show({ message: outcome(button, rows) }) },
        )
      }}
    >
      <Group justify="space-between" align="flex-end" gap="sm">
        <Box flex="1 1 16rem" miw={0}>
          <Text size="sm">{children}</Text>
        </Box>
        <Group align="flex-end" gap="sm">
          {fields}
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
          <Button type="submit" variant="default" loading={drive.isPending} disabled={!isWhole || !isReady}>
            {button}
          </Button>
        </Group>
      </Group>
      <ErrorNote error={drive.error} />
    </form>
  )
}

function outcome(button: string, rows: number): string {
  if (rows === 0) return `${button}: done.`
  return `${button}: ${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} of the practice changed.`
}
