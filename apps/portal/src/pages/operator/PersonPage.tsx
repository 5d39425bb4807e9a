import type { OperatorPersonPage, SignInMeans } from '@bridgework/contract/portal'
import { Button, Stack } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { useMembership, useSession } from '../../api/session.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { When } from '../../ui/When.tsx'
import { ResetSecondFactor } from './ResetSecondFactor.tsx'
import { Memberships } from './tenants/Memberships.tsx'

const route = getRouteApi('/signed-in/operator/people/$user_id')

const titles: Record<SignInMeans, string> = {
  password: 'Password',
  one_time_password: 'Authenticator app',
  recovery_codes: 'Recovery codes',
  passkey: 'Passkey',
  provider_identity: 'Identity provider',
  session: 'Session',
  link: 'Link that was mailed, or a sign-in under way',
  undo_link: 'Link that restores an earlier e-mail address',
}

/** An identity provider asks for a second factor by itself. */
function noFactor({ means }: OperatorPersonPage): string {
  const provider = means.find((each) => each.means === 'provider_identity')
  return provider ? `None here. The IT of ${provider.name} resets the one there.` : 'None'
}

/** One person: what they act for, and everything that their account can be signed in with. */
export function PersonPage() {
  const params = route.useParams()
  const { data } = useSuspenseQuery(read('getOperatorPerson', { params }))
  const session = useSession()
  const role = useMembership('operator')?.role
  const [isAsked, setAsked] = useState(false)
  const isOperator = data.memberships.some(({ side }) => side === 'operator')
  // The server decides; this spares people a button that would be refused.
  const mayReset = data.id !== session.user.id && (!isOperator || role === 'admin')
  return (
    <>
      <PageHeader
        title={data.name}
        description={data.email}
        actions={
          mayReset &&
          data.has_second_factor && (
            <Button color="red.9" onClick={() => setAsked(true)}>
              Reset second factor…
            </Button>
          )
        }
      />
      <Stack>
        <Section title="Account">
          <Facts
            facts={{
              'Belongs to': <Memberships of={data.memberships} />,
              'Second factor': data.has_second_factor ? 'Set up' : noFactor(data),
              'Account created': <When at={data.created_at} />,
            }}
          />
        </Section>
        <Section
          title="Ways to sign in"
          description="Everything that this account can be signed in with at this moment, and since when."
        >
          {data.means.length === 0 ? (
            <EmptyState icon={IconKey} title="None">
              The person chooses a password with “Forgot your password?” on the sign-in page.
            </EmptyState>
          ) : (
            <DataTable
              caption="Ways to sign in"
              rows={data.means.map((each, at) => ({ ...each, key: String(at) }))}
              rowKey={({ key }) => key}
              columns={[
                { header: 'Way', cell: ({ means }) => titles[means] },
                { header: 'Name', cell: ({ name }) => name ?? '–' },
                { header: 'Added', cell: ({ added_at }) => <When at={added_at} /> },
              ]}
            />
          )}
        </Section>
      </Stack>
      <ResetSecondFactor person={data} opened={isAsked} onClose={() => setAsked(false)} />
    </>
  )
}
