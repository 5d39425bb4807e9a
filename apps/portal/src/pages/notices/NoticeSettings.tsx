import {
  type Delivery,
  deliveries,
  isFixedKind,
  type NoticeKind,
  noticeKinds,
  type NoticeSettings as Settings,
} from '@bridgework/contract/portal'
import { NativeSelect, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read, useAct } from '../../api/query.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'

const deliveryNames: Record<Delivery, string> = { at_once: 'At once', daily: 'Once a day', off: 'Off' }

/** Which notices the person wants as mails, for each company and practice or for one of them. */
export function NoticeSettings({ tenantId }: { tenantId?: string }) {
  const { data } = useSuspenseQuery(read('listNoticeSettings')).data
  const shown = tenantId === undefined ? data : data.filter(({ tenant_id }) => tenant_id === tenantId)
  return (
    <Stack>
      {shown.length === 0 && (
        <Text c="dimmed">You belong to no company or practice, so there is nothing to be notified of.</Text>
      )}
      {shown.map((settings) => (
        <TenantSettings key={settings.tenant_id} settings={settings} />
      ))}
    </Stack>
  )
}

function TenantSettings({ settings: { tenant_id, side, name, kinds } }: { settings: Settings }) {
  const change = useAct('changeNoticeSetting')
  const choose = (kind: NoticeKind, delivery: Delivery) =>
    change.mutate(
      { body: { tenant_id, kind, delivery } },
      { onSuccess: () => notifications.show({ message: `${noticeKinds[kind].title}: saved.` }) },
    )
  return (
    <Section
      title={side === 'operator' ? 'Mails for operators' : `Mails about ${name}`}
      description="The list of notices has all of them, whatever you choose. The daily mail comes at seven in the morning."
    >
      <ErrorNote error={change.error} />
      <Stack maw={560}>
        {kinds.map(({ kind, delivery }) => (
          <NativeSelect
            key={kind}
            label={noticeKinds[kind].title}
            description={noticeKinds[kind].about}
            value={delivery}
            disabled={isFixedKind(kind)}
            data={deliveries.map((value) => ({ value, label: deliveryNames[value] }))}
            onChange={({ currentTarget }) => choose(kind, currentTarget.value as Delivery)}
          />
        ))}
      </Stack>
    </Section>
  )
}
