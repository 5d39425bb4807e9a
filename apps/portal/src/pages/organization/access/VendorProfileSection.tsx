import type { VendorProfile } from '@bridgework/contract/portal'
import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'

const practices: Record<VendorProfile['practices'], string> = {
  0: 'None yet',
  '1-4': '1 to 4',
  '5-19': '5 to 19',
  '20-99': '20 to 99',
  '100-499': '100 to 499',
  '500+': '500 or more',
}

/** Who a vendor is, as practices see it. What the vendor says of itself is kept apart from what Bridgework checked. */
export function VendorProfileSection({
  name,
  profile,
  description,
}: {
  name: string
  profile: VendorProfile
  description?: string
}) {
  return (
    <Section title={`About ${name}`} {...(description && { description })}>
      <Group align="flex-start" gap="lg">
        {profile.logo && (
          <img
            src={profile.logo}
            alt={`Logo of ${name}`}
            width={64}
            height={64}
            // Logos are made for white paper, also in the dark.
            style={{ background: 'white', borderRadius: 8, border: '1px solid var(--mantine-color-default-border)' }}
          />
        )}
        <Stack flex="1 1 16rem" miw={0} gap="sm">
          <Group gap="xs">
            <StateBadge state={profile.verified_at ? 'verified' : 'not_verified'} />
            {profile.verified_domain && <StateBadge state="verified" label={profile.verified_domain} />}
          </Group>
          <Text size="sm">
            {profile.verified_at ? (
              <>
                The operator of Bridgework verified this company <When at={profile.verified_at} />.
              </>
            ) : (
              'The operator of Bridgework has not verified this company. Make sure that you know who it is.'
            )}{' '}
            {profile.verified_domain && `It proved that ${profile.verified_domain} is its website.`}
          </Text>
          {profile.purpose && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {profile.purpose}
            </Text>
          )}
        </Stack>
      </Group>
      <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 3 }} m={0}>
        <Fact label="Legal name">{profile.legal_name}</Fact>
        <Fact label="Postal address">{profile.postal_address}</Fact>
        <Fact label="Website">
          {profile.website && (
            <Anchor inherit href={profile.website} target="_blank" rel="noopener noreferrer nofollow">
              {profile.website.replace('https://', '')}
            </Anchor>
          )}
        </Fact>
        <Fact label="Contact">
          {profile.contact && (
            <Anchor inherit href={`mailto:${profile.contact}`}>
              {profile.contact}
            </Anchor>
          )}
        </Fact>
        <Fact label="Joined Bridgework">
          <When at={profile.since} />
        </Fact>
        <Fact label="Practices that grant it access">{practices[profile.practices]}</Fact>
      </SimpleGrid>
    </Section>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
        {children ?? 'Not given'}
      </Text>
    </div>
  )
}
