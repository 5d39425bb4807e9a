import type { IdentityProviderPage as Page } from '@bridgework/contract/portal'
import { Alert, Button, Checkbox, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { CopyField } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { When } from '../../ui/When.tsx'

type Tenant = { tenant_id: string }

/** How members sign in through the organization's own identity provider; for its owner. */
export function IdentityProviderPage() {
  const ids = useParams({ strict: false })
  const tenant = { tenant_id: ids.company_id ?? ids.organization_id ?? '' }
  const page = useSuspenseQuery(read('getIdentityProvider', { params: tenant })).data
  return (
    <>
      <PageHeader
        title="Identity provider"
        description="Members can sign in with the account that they have at your organization: Microsoft Entra ID, Google Workspace, Okta or another provider that speaks OpenID Connect."
      />
      <Stack>
        <Section
          title="For your IT"
          description="Register an application of the type “web” at the provider with this address."
        >
          <CopyField label="Redirect URI" value={page.redirect_uri} />
        </Section>
        {page.provider && <InUse tenant={tenant} provider={page.provider} />}
        {/* Another provider is another form. */}
        <Settings key={page.provider?.issuer ?? ''} tenant={tenant} provider={page.provider} />
      </Stack>
    </>
  )
}

function InUse({ tenant, provider }: { tenant: Tenant; provider: NonNullable<Page['provider']> }) {
  const test = useAct('testIdentityProvider')
  const remove = useAct('deleteIdentityProvider')
  const [isAsking, setIsAsking] = useState(false)
  const go = useMutation({
    mutationFn: async () => {
      const { url } = await test.mutateAsync({ params: tenant })
      location.assign(url)
    },
  })
  const { linked_members: linked } = provider
  return (
    <Section
      title={provider.name}
      description={linked === 1 ? '1 member is linked.' : `${linked} members are linked.`}
      actions={
        <StateBadge
          state={provider.required ? 'in_force' : 'active'}
          label={provider.required ? 'Required' : 'Optional'}
        />
      }
    >
      <CopyField label="Sign-in page for members" value={provider.sign_in_url} />
      <Text size="sm">
        {provider.tested_at === null ? (
          'Not tested yet. Test it before members use it.'
        ) : (
          <>
            A test succeeded <When at={provider.tested_at} />.
          </>
        )}
      </Text>
      <ErrorNote error={go.error} />
      <Group>
        <Button onClick={() => go.mutate()} loading={go.isPending}>
          Test the sign-in
        </Button>
        <Button variant="default" onClick={() => setIsAsking(true)}>
          Remove…
        </Button>
      </Group>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Remove ${provider.name}?`}
        confirm="Remove"
        onConfirm={() => remove.mutateAsync({ params: tenant })}
      >
        Members sign in with their password or passkey again. Sessions that began at the provider end, and its links are
        deleted. Members who have no password choose one with “Forgot your password?”.
      </ConfirmDialog>
    </Section>
  )
}

function Settings({ tenant, provider }: { tenant: Tenant; provider: Page['provider'] }) {
  const save = useAct('saveIdentityProvider')
  const { form, forget } = useDraftForm(`identity provider ${tenant.tenant_id}`, {
    mode: 'controlled',
    secrets: ['client_secret'],
    initialValues: {
      name: provider?.name ?? '',
      sign_in_name: provider?.sign_in_name ?? '',
      issuer: provider?.issuer ?? '',
      client_id: provider?.client_id ?? '',
      client_secret: '',
      counts_as_second_factor: provider?.counts_as_second_factor ?? false,
      required: provider?.required ?? false,
    },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name.' : null),
      sign_in_name: (value) =>
        /^[a-z0-9-]{3,40}$/.test(value.trim()) ? null : 'Use 3 to 40 lower-case letters, digits and hyphens.',
      issuer: (value) => (URL.canParse(value.trim()) ? null : 'Enter an address like https://login.example.com.'),
      client_id: (value) => (value.trim() === '' ? 'Enter the client ID.' : null),
      client_secret: (value) => (value === '' && provider === null ? 'Enter the client secret.' : null),
    },
  })
  const isAnother =
    provider !== null && (form.values.issuer !== provider.issuer || form.values.client_id !== provider.client_id)
  return (
    <Section title="Settings">
      <form
        noValidate
        onSubmit={form.onSubmit(({ client_secret, ...values }) =>
          save.mutate(
            { params: tenant, body: { ...values, ...(client_secret !== '' && { client_secret }) } },
            {
              onSuccess: () => {
                form.setFieldValue('client_secret', '')
                forget()
                form.resetDirty()
                notifications.show({ message: 'Identity provider saved.' })
              },
            },
          ),
        )}
      >
        <Stack maw={560}>
          <TextInput
            label="Name"
            description="Members see it on the button."
            placeholder="Smile Dental account"
            maxLength={200}
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Sign-in name"
            description="Members enter it on the sign-in page. No other organization can have it."
            placeholder="smile-dental"
            maxLength={40}
            autoCapitalize="none"
            {...form.getInputProps('sign_in_name')}
          />
          <TextInput
            label="Issuer"
            description="Without /.well-known/openid-configuration."
            placeholder="https://login.example.com"
            maxLength={500}
            {...form.getInputProps('issuer')}
          />
          <TextInput label="Client ID" maxLength={200} autoComplete="off" {...form.getInputProps('client_id')} />
          <PasswordInput
            label="Client secret"
            {...(provider && { description: 'Stored. Enter another one only when the provider has a new one.' })}
            maxLength={1000}
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show secret' }}
            {...form.getInputProps('client_secret')}
          />
          <Checkbox
            label="Signing in there counts as a second factor"
            description="Only where the provider itself asks every member for a second factor."
            {...form.getInputProps('counts_as_second_factor', { type: 'checkbox' })}
          />
          <Checkbox
            label="Members sign in only through it"
            description="After a test has succeeded. As the owner you can still sign in with your password and your second factor, so that you can come back when the provider fails."
            {...form.getInputProps('required', { type: 'checkbox' })}
          />
          {isAnother && (
            <Alert variant="light">
              <Text size="sm" c="bright">
                Another issuer or client ID is another provider: members link it anew, and it must be tested before it
                can be required.
              </Text>
            </Alert>
          )}
          <ErrorNote error={save.error} />
          <Group>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
