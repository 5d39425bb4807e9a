import { Box, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Names and values of one thing, side by side where there is room. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 4 }} m={0}>
      {Object.entries(facts).map(([name, value]) => (
        <Box key={name} style={{ overflowWrap: 'anywhere' }}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0}>
            {value}
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  )
}
