import type { Membership } from '@bridgework/contract/portal'
import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useConfirmedAct } from '../../api/fresh-sign-in.ts'
import { goToProvider } from '../../api/identity-sign-in.ts'
import { useSession } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'

/** The identity providers of a person's companies and practices, each with the button that links it. Nothing where there is none. */
export function IdentityLinks() {
  const { memberships } = useSession()
  const offered = memberships.filter(({ identity_provider }) => identity_provider !== null)
  if (offered.length === 0) return null
  return (
    <Section
      title="Sign-in through your organization"
      description="Link your account there once. Then you can sign in through it, for that company or practice alone."
    >
      {offered.map((membership) => (
        <LinkProvider key={membership.id} membership={membership} />
      ))}
    </Section>
  )
}

/** Links the person's account at the provider of one company or practice, by signing in there, and is then signed in through it. */
export function LinkProvider({
  membership: { id, side, name, identity_provider: provider },
}: {
  membership: Membership
}) {
  const confirmed = useConfirmedAct()
  const link = useMutation({
    mutationFn: () =>
      confirmed(() => goToProvider({ sign_in_name: provider?.sign_in_name ?? '', link: true, next: `/${side}/${id}` })),
  })
  return (
    <>
      <ErrorNote error={link.error} />
      <Group>
        <Button onClick={() => link.mutate()} loading={link.isPending}>
          Continue with {provider?.name}
        </Button>
        <Text size="sm" c="dimmed">
          For {name}
        </Text>
      </Group>
    </>
  )
}
