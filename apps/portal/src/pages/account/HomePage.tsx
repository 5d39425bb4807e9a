import { Card, SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.ts'
import { homeOf, sideNames } from '../../shell/places.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'

/** For a person who acts for several, or for nothing yet. */
export function HomePage() {
  const { memberships, user } = useSession()
  return (
    <>
      <PageHeader
        title={`Hello ${user.name}`}
        documentTitle="Start"
        description={
          memberships.length > 0
            ? 'Choose for whom you act.'
            : `Your account belongs to no company and no practice. Ask an owner or an admin there to invite ${user.email}.`
        }
      />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {memberships.map((membership) => (
          <Card key={`${membership.side} ${membership.id}`} withBorder component={Link} to={homeOf(membership)}>
            <Text fw={600}>{membership.name}</Text>
            <Text size="sm" c="dimmed">
              {sideNames[membership.side]} · {membership.role}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </>
  )
}
