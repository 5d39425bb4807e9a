import { Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useAct } from '../../api/query.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { logoOf, logoTypes } from './logo-image.ts'

/** Chooses, replaces and removes the logo; each is saved at once. */
export function LogoField({ companyId, hasLogo }: { companyId: string; hasLogo: boolean }) {
  const params = { company_id: companyId }
  const set = useAct('setCompanyLogo')
  const remove = useAct('deleteCompanyLogo')
  const read = useMutation({
    mutationFn: logoOf,
    onSuccess: (png) =>
      set.mutate({ params, body: { png } }, { onSuccess: () => notifications.show({ message: 'Logo saved.' }) }),
  })
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Logo
      </Text>
      <Text size="xs" c="dimmed">
        PNG, JPEG or WebP, at most 5 MB. It is scaled to 128 × 128 pixels. Hidden data of the file, such as where a
        photo was taken, is removed.
      </Text>
      <Group>
        <FileButton accept={logoTypes} onChange={(file) => file && read.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={read.isPending || set.isPending}>
              {hasLogo ? 'Replace logo' : 'Choose logo'}
            </Button>
          )}
        </FileButton>
        {hasLogo && (
          <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate({ params })}>
            Remove logo
          </Button>
        )}
      </Group>
      {read.error && (
        <Text size="sm" role="alert">
          {read.error.message}
        </Text>
      )}
      <ErrorNote error={set.error ?? remove.error} />
    </Stack>
  )
}
