import { Card, SimpleGrid, Text } from '@mantine/core'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { useSession } from '../../api/session.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'

const route = getRouteApi('/signed-in/vendors/$company_id')

/** Where the link of a vendor leads: to its page at the practice of the person, who chooses one of several. */
export function VendorLinkPage() {
  const { company_id } = route.useParams()
  const practices = useSession().memberships.filter(({ side }) => side === 'organization')
  const [only] = practices
  const to = '/organization/$organization_id/vendors/$company_id' as const
  if (only && practices.length === 1)
    return <Navigate to={to} params={{ organization_id: only.id, company_id }} replace />
  return (
    <>
      <PageHeader
        title="Vendor"
        description={
          practices.length > 0
            ? 'Choose the practice for which you want to see this vendor.'
            : 'This link is for the people of a practice, and your account belongs to none. Ask the owner or an admin of your practice to invite you.'
        }
      />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {practices.map(({ id, name, role }) => (
          <Card key={id} withBorder component={Link} to={`/organization/${id}/vendors/${company_id}`}>
            <Text fw={600}>{name}</Text>
            <Text size="sm" c="dimmed">
              Practice · {role}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </>
  )
}
