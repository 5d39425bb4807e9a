import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconBuildingBank } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { goToProvider, keepSignInName, lastSignInName } from '../../api/identity-sign-in.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'

/** Signing in through an organization's identity provider. `name`: of a link that the organization gave out. */
export function ProviderSignIn({ name, next }: { name: string | undefined; next: string | undefined }) {
  const [isOpen, setIsOpen] = useState(name !== undefined)
  const form = useForm({
    initialValues: { sign_in_name: name ?? lastSignInName() },
    validate: {
      sign_in_name: (value) => (value.trim() === '' ? t('Enter the sign-in name of your organization.') : null),
    },
  })
  const go = useMutation({
    mutationFn: async ({ sign_in_name }: { sign_in_name: string }) => {
      keepSignInName(sign_in_name.trim())
      await goToProvider({ sign_in_name: sign_in_name.trim(), ...(next !== undefined && { next }) })
    },
  })
  if (!isOpen) {
    return (
      <Button
        variant="default"
        // On a phone it takes two lines.
        h="auto"
        mih={36}
        py={6}
        styles={{ label: { whiteSpace: 'normal' } }}
        leftSection={<IconBuildingBank size={18} aria-hidden />}
        onClick={() => setIsOpen(true)}
      >
        {t('Sign in with your organization')}
      </Button>
    )
  }
  return (
    <form onSubmit={form.onSubmit((values) => go.mutate(values))}>
      <Stack>
        <ErrorNote error={go.error} />
        <TextInput
          label={t('Sign-in name of your organization')}
          description={t('Your IT knows it.')}
          maxLength={40}
          autoComplete="organization"
          autoCapitalize="none"
          {...form.getInputProps('sign_in_name')}
        />
        <Group>
          <Button type="submit" loading={go.isPending}>
            {t('Continue')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
