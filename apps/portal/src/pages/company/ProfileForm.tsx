import type { VendorProfile } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../api/query.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'

/** What the company says of itself to practices. */
export function ProfileForm({ companyId, profile }: { companyId: string; profile: VendorProfile }) {
  const update = useAct('updateCompanyProfile')
  const { form, forget } = useDraftForm(`profile ${companyId}`, {
    initialValues: {
      legal_name: profile.legal_name ?? '',
      postal_address: profile.postal_address ?? '',
      website: profile.website ?? '',
      contact: profile.contact ?? '',
      purpose: profile.purpose ?? '',
    },
    validate: {
      contact: (email) =>
        email.trim() === '' || /^\S+@\S+\.\S+$/.test(email.trim())
          ? null
          : 'Enter an e-mail address, like help@example.com.',
    },
  })
  const save = form.onSubmit((body) =>
    update.mutate(
      { params: { company_id: companyId }, body },
      {
        onSuccess: () => {
          forget()
          notifications.show({ message: 'Profile saved.' })
        },
      },
    ),
  )
  return (
    <form onSubmit={save} noValidate>
      <Stack maw={520}>
        <TextInput
          label="Legal name"
          description="As in your contracts. Another legal name ends the verification by the operator."
          maxLength={200}
          autoComplete="organization"
          key={form.key('legal_name')}
          {...form.getInputProps('legal_name')}
        />
        <TextInput
          label="Postal address"
          description="Practices print it where a patient asks who received their data."
          maxLength={300}
          autoComplete="street-address"
          key={form.key('postal_address')}
          {...form.getInputProps('postal_address')}
        />
        <TextInput
          label="Website"
          description="An https address. Another website needs a new proof."
          placeholder="https://www.example.com"
          maxLength={300}
          autoComplete="url"
          key={form.key('website')}
          {...form.getInputProps('website')}
        />
        <TextInput
          label="Contact for practices"
          description="An e-mail address that practices may write to."
          type="email"
          maxLength={200}
          autoComplete="email"
          key={form.key('contact')}
          {...form.getInputProps('contact')}
        />
        <Textarea
          label="What your software does with a practice’s data"
          description="One or two sentences, at most 500 characters."
          maxLength={500}
          autosize
          minRows={2}
          key={form.key('purpose')}
          {...form.getInputProps('purpose')}
        />
        <ErrorNote error={update.error} />
        <Group>
          <Button type="submit" loading={update.isPending}>
            Save profile
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          All of it is optional. Practices grant access sooner to a vendor that they can recognize.
        </Text>
      </Stack>
    </form>
  )
}
