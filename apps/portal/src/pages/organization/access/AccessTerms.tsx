import type { VendorPage } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../../api/query.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import type { Terms } from './access-terms.ts'

/**
 * What the vendor's access is for, and when it ends. With access, a change is saved at once; without, `onChange` hands it to the grant that is
 * being prepared.
 */
export function AccessTerms({
  organizationId,
  vendor,
  hasAccess,
  mayGrant,
  draft,
  onChange,
}: {
  organizationId: string
  vendor: VendorPage
  hasAccess: boolean
  mayGrant: boolean
  /** What was typed and is not saved. */
  draft: Terms | null
  onChange: (draft: Terms | null) => void
}) {
  const stored = { purpose: vendor.purpose ?? '', ends_on: vendor.ends_on ?? '' }
  const terms = draft ?? stored
  const save = useAct('setVendorTerms')
  const isChanged = terms.purpose !== stored.purpose || terms.ends_on !== stored.ends_on
  const change = (changed: Partial<Terms>) => onChange({ ...terms, ...changed })
  const state = (
    <Text size="sm">
      {vendor.ends_at ? (
        <>
          All access of this vendor ends <When at={vendor.ends_at} />.
        </>
      ) : hasAccess ? (
        'The access has no end date. You can revoke it at any time.'
      ) : (
        'Both are optional and apply to all that you grant below.'
      )}
    </Text>
  )
  if (!mayGrant) {
    return (
      <Section title="Purpose and end">
        <Text size="sm">Purpose: {vendor.purpose ?? 'not given'}</Text>
        {state}
      </Section>
    )
  }
  return (
    <Section
      title="Purpose and end"
      description="For your records: what this vendor needs your data for, and until when."
    >
      {state}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(
            {
              params: { organization_id: organizationId, company_id: vendor.company_id },
              body: { purpose: terms.purpose, ends_on: terms.ends_on || null },
            },
            {
              onSuccess: () => {
                onChange(null)
                notifications.show({ message: 'Purpose and end are saved.' })
              },
            },
          )
        }}
      >
        <Stack maw={520}>
          <Textarea
            label="Purpose"
            maxLength={500}
            autosize
            minRows={1}
            value={terms.purpose}
            onChange={(event) => change({ purpose: event.currentTarget.value })}
          />
          <TextInput
            label="Last day of access (optional)"
            description="Access ends at the end of this day, in the time zone of your practice. Nothing more is read after it."
            type="date"
            value={terms.ends_on}
            onChange={(event) => change({ ends_on: event.currentTarget.value })}
          />
          <ErrorNote error={save.error} />
          {hasAccess && (
            <Group>
              <Button type="submit" variant="default" loading={save.isPending} disabled={!isChanged}>
                Save purpose and end
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}
