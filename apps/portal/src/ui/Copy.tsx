import { Box, Button, Code, CopyButton as Copying, Group, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useId } from 'react'
import { t } from '../language/t.ts'

/** Puts a value on the clipboard and says so. `what` completes "Copy …" for a screen reader. */
export function CopyButton({ value, what, label = t('Copy') }: { value: string; what: string; label?: string }) {
  return (
    <Copying value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          size="xs"
          onClick={copy}
          aria-label={copied ? t('Copied {what}', { what }) : t('Copy {what}', { what })}
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        >
          <span aria-live="polite">{copied ? t('Copied') : label}</span>
        </Button>
      )}
    </Copying>
  )
}

/** A value to be copied, under its label. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const id = useId()
  return (
    <Box>
      <Text size="sm" fw={500} id={id} mb={4}>
        {label}
      </Text>
      <Group gap="xs" align="center">
        <Code
          aria-labelledby={id}
          role="textbox"
          aria-readonly
          tabIndex={0}
          fz="sm"
          px="sm"
          py={6}
          style={{ overflowWrap: 'anywhere', flex: '1 1 14rem' }}
        >
          {value}
        </Code>
        <CopyButton value={value} what={label} />
      </Group>
    </Box>
  )
}

/** Lines to be copied whole: a command, a program. */
export function Snippet({ label, code }: { label: string; code: string }) {
  return (
    <Box>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <CopyButton value={code} what={label} />
      </Group>
      <Code block tabIndex={0} role="region" aria-label={label} style={{ maxHeight: '26rem', overflow: 'auto' }}>
        {code}
      </Code>
    </Box>
  )
}
