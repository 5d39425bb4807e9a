import type { OperatorCompany } from '@bridgework/contract/portal'
import { Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../../api/query.ts'
import { useNeedsReason } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { When } from '../../../ui/When.tsx'

/** Verifies a company, or takes that back with a reason. Shows what the company says of itself, to compare with what the operator knows. */
export function VerifyCompany({ company, onClose }: { company: OperatorCompany | null; onClose: () => void }) {
  const set = useAct('setCompanyVerification')
  const needsReason = useNeedsReason()
  const isVerified = company?.verified_at != null
  const facts = company && [
    ['Legal name', company.legal_name],
    ['Website', company.website],
    ['Proved website', company.verified_domain],
    ['Contact', company.contact],
    ['Owner', company.owner_email],
  ]
  return (
    <ConfirmDialog
      opened={company !== null}
      onClose={onClose}
      title={company ? (isVerified ? `Take back the verification of ${company.name}?` : `Verify ${company.name}?`) : ''}
      reason={isVerified || needsReason ? 'required' : 'optional'}
      confirm={isVerified ? 'Take verification back' : 'Verify company'}
      color={isVerified ? 'red.9' : 'indigo'}
      onConfirm={async (reason) => {
        if (!company) return
        const params = { company_id: company.id }
        await set.mutateAsync({ params, body: { is_verified: !isVerified, ...(reason && { reason }) } })
        notifications.show({ message: `${company.name} is ${isVerified ? 'no longer verified' : 'verified'}.` })
      }}
    >
      <Stack gap="xs">
        {isVerified ? (
          <Text size="sm">
            {company.verified_by} verified it <When at={company.verified_at} />. Practices with access keep seeing it.
            Others no longer find it.
          </Text>
        ) : (
          <Text size="sm">
            Check outside Bridgework that this company exists and that the owner speaks for it. Practices then find it,
            with the badge “Verified”.
          </Text>
        )}
        {facts?.map(([label, value]) => (
          <Text key={label} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {label}: <b>{value ?? 'not given'}</b>
          </Text>
        ))}
      </Stack>
    </ConfirmDialog>
  )
}
