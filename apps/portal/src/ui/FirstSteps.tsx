import { Box, Group, Progress, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { t } from '../language/t.ts'
import { Section } from './Section.tsx'

/** One of the first things that somebody new does; `action`: the link to where. */
export type FirstStep = { title: string; text: string; isDone: boolean; action: ReactNode }

/** Leads somebody new through the first steps; each with its state, the next one with its link. `actions`: beside the heading. */
export function FirstSteps({ steps, actions }: { steps: readonly FirstStep[]; actions?: ReactNode }) {
  const done = steps.filter(({ isDone }) => isDone).length
  const next = steps.find(({ isDone }) => !isDone)
  return (
    <Section
      title={t('First steps')}
      description={t('{done} of {count} done', { done, count: steps.length })}
      actions={actions}
    >
      <Progress value={(done / steps.length) * 100} size="sm" aria-label={t('First steps completed')} />
      <Stack gap="md" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {steps.map((step, index) => (
          <Group key={step.title} component="li" wrap="nowrap" align="flex-start" gap="sm">
            <ThemeIcon radius="xl" size={28} variant={step.isDone ? 'filled' : 'default'} aria-hidden>
              {step.isDone ? <IconCheck size={16} /> : <Text size="sm">{index + 1}</Text>}
            </ThemeIcon>
            <Box flex={1} miw={0}>
              <Text fw={500}>
                {step.title}
                {step.isDone && <VisuallyHidden> {t('(done)')}</VisuallyHidden>}
              </Text>
              {!step.isDone && (
                <Text size="sm" c="dimmed">
                  {step.text}
                </Text>
              )}
              {step === next && <Box mt="xs">{step.action}</Box>}
            </Box>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
