import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read, useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { CopyField } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'
import { VendorProfileSection } from '../organization/access/VendorProfileSection.tsx'
import { useCompany } from './company.ts'
import { DomainProof } from './DomainProof.tsx'
import { LogoField } from './LogoField.tsx'
import { ProfileForm } from './ProfileForm.tsx'

/** The company's name, profile, proof of its website, id and owner. */
export function CompanySettingsPage() {
  const company = useCompany()
  const may = useMay(company.id)
  const { data } = useSuspenseQuery(read('getCompanyProfile', { params: { company_id: company.id } }))
  return (
    <>
      <PageHeader title="Settings" description="What practices and the operator see about your company." />
      <Stack>
        <Section title="Name">
          {may('company.update') ? (
            // Another company is another form.
            <NameForm key={company.id} id={company.id} name={company.name} />
          ) : (
            <>
              <Text>{company.name}</Text>
              <WhoMay action="company.update" what="change the name" />
            </>
          )}
        </Section>
        {may('company.update') && (
          <Section title="Profile" description="Practices read this before they grant you access.">
            <LogoField companyId={company.id} hasLogo={data.profile.logo !== null} />
            <ProfileForm key={company.id} companyId={company.id} profile={data.profile} />
          </Section>
        )}
        <Section
          title="Verified website"
          description="Prove that your website is yours, so that practices recognize you."
        >
          <DomainProof companyId={company.id} domain={data.domain} mayCheck={may('company.domain_check')} />
        </Section>
        <VendorProfileSection
          name={company.name}
          profile={data.profile}
          description="Preview: this is what practices see of your company."
        />
        <Section title="About the company">
          <CopyField label="Link for practices to your page" value={`${location.origin}/vendors/${company.id}`} />
          <CopyField label="Company id" value={company.id} />
          <Text size="sm">
            Owner: <b>{company.owner.name}</b>, {company.owner.email}.{' '}
            <PageLink to="/company/$company_id/members" params={{ company_id: company.id }} underline="always" inherit>
              Transfer ownership on the Members page
            </PageLink>
            .
          </Text>
          <Text size="sm" c="dimmed">
            Created <When at={company.created_at} />.
          </Text>
        </Section>
      </Stack>
    </>
  )
}

function NameForm({ id, name }: { id: string; name: string }) {
  const update = useAct('updateCompany')
  const { form, forget } = useDraftForm(`company ${id}`, {
    initialValues: { name },
    validate: { name: (value) => (value.trim() === '' ? 'Enter the name of the company.' : null) },
  })
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        update.mutate(
          { params: { company_id: id }, body: { name: values.name.trim() } },
          {
            onSuccess: () => {
              forget()
              notifications.show({ message: 'Name saved.' })
            },
          },
        ),
      )}
    >
      <Stack maw={420}>
        <TextInput
          label="Name of the company"
          description="Practices see this name when they grant access. Another name ends the verification by the operator, and practices with access see the change for 30 days."
          maxLength={200}
          autoComplete="organization"
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <ErrorNote error={update.error} />
        <Group>
          <Button type="submit" loading={update.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
