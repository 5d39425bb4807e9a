import { Members } from '../members/Members.tsx'
import { useCompanyParams } from './company.ts'

/** The people of the company. */
export function CompanyMembersPage() {
  return <Members side="company" id={useCompanyParams().company_id} />
}
