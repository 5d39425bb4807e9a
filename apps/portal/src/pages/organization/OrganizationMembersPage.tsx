import { getRouteApi } from '@tanstack/react-router'
import { Members } from '../members/Members.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/members')

export function OrganizationMembersPage() {
  const { organization_id } = route.useParams()
  return <Members side="organization" id={organization_id} />
}
