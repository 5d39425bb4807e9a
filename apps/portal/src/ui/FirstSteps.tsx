import { Box, Group, Progress, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { ButtonLink } from '../../ui/links.tsx'
import { Section } from '../../ui/Section.tsx'
import type { Step } from './first-steps.ts'

/** Guides a new vendor to its first record. */
export function FirstSteps({ steps, companyId }: { steps: readonly Step[]; companyId: string }) {
  const done = steps.filter(({ isDone }) => isDone).length
  const next = steps.find(({ isDone }) => !isDone)
  return (
    <Section title="First steps" description={`${done} of ${steps.length} done`}>
      <Progress value={(done / steps.length) * 100} size="sm" aria-label="First steps completed" />
      <Stack gap="md" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {steps.map((step, index) => (
          <Group key={step.title} component="li" wrap="nowrap" align="flex-start" gap="sm">
            <ThemeIcon radius="xl" size={28} variant={step.isDone ? 'filled' : 'default'} aria-hidden>
              {step.isDone ? <IconCheck size={16} /> : <Text size="sm">{index + 1}</Text>}
            </ThemeIcon>
            <Box flex={1} miw={0}>
              <Text fw={500}>
                {step.title}
                {step.isDone && <VisuallyHidden> (done)</VisuallyHidden>}
              </Text>
              {!step.isDone && (
                <Text size="sm" c="dimmed">
                  {step.text}
                </Text>
              )}
              {step === next && (
                <ButtonLink mt="xs" size="sm" to={step.to} params={{ company_id: companyId }}>
                  {step.link}
                </ButtonLink>
              )}
            </Box>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
