import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.ts'
import { homeOf } from '../../shell/places.ts'

const kinds = { company: 'Software company', organization: 'Practice', operator: 'Operator' }

/** For a person who acts for several, or for nothing yet. */
export function HomePage() {
  const { memberships, user } = useSession()
  return (
    <Stack>
      <Title order={1}>Hello {user.name}</Title>
      {memberships.length === 0 && (
        <Text>
          Your account belongs to no company and no practice. Ask a colleague to invite {user.email}, or sign up a new
          company.
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {memberships.map((membership) => (
          <Card key={`${membership.side} ${membership.id}`} withBorder component={Link} to={homeOf(membership)}>
            <Text fw={600}>{membership.name}</Text>
            <Text size="sm" c="dimmed">
              {kinds[membership.side]} · {membership.role}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
