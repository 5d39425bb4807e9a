import { Card, SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.ts'
import { t } from '../../language/t.ts'
import { homeOf, sideNames } from '../../shell/menu.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'

/** For a person with several companies or practices, or with none yet. */
export function HomePage() {
  const { memberships, user } = useSession()
  return (
    <>
      <PageHeader
        title={`Hello ${user.name}`}
        documentTitle="Home"
        description={
          memberships.length > 0
            ? 'Choose a company or practice.'
            : `Your account does not belong to a company or practice yet. Ask an owner or an admin to invite ${user.email}.`
        }
      />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {memberships.map((membership) => (
          <Card key={`${membership.side} ${membership.id}`} withBorder component={Link} to={homeOf(membership)}>
            <Text fw={600}>{membership.name}</Text>
            <Text size="sm" c="dimmed">
              {t(sideNames[membership.side])} · {membership.role}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </>
  )
}
