import { Button, Stack, Text } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { useCompanyParams } from '../company.ts'
import { AddWebhook } from './AddWebhook.tsx'
import { type NewSecret, WebhookSecret } from './WebhookSecret.tsx'
import { WebhookSection } from './WebhookSection.tsx'

/** The company's webhooks: where it is told what changed, and what its servers answered. A secret is shown once. */
export function WebhooksPage() {
  const params = useCompanyParams()
  const webhooks = useSuspenseQuery(read('listWebhooks', { params }, { everyMs: 15_000 })).data.data
  const mayAdd = useMay(params.company_id)('webhook.sign')
  const [isAdding, setIsAdding] = useState(false)
  const [secret, setSecret] = useState<NewSecret | null>(null)
  const add = mayAdd && <Button onClick={() => setIsAdding(true)}>Add webhook</Button>
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Signed messages to your server when data that you may read, a grant, a location, a key or the agreement changes. They hold no patient’s data."
        actions={webhooks.length > 0 && add}
      />
      <Stack>
        {webhooks.length === 0 && (
          <EmptyState icon={IconWebhook} title="No webhook yet" action={add}>
            <Text size="sm">
              Add the https address of your server. To try it on your own computer first, run{' '}
              <b>bridgework listen --forward http://localhost:3000/hook</b>. The guide “Webhooks” has the code that
              checks a signature.
            </Text>
          </EmptyState>
        )}
        {webhooks.map((webhook) => (
          <WebhookSection key={webhook.id} webhook={webhook} onSecret={setSecret} />
        ))}
      </Stack>
      <AddWebhook opened={isAdding} onClose={() => setIsAdding(false)} onAdded={setSecret} />
      <WebhookSecret shown={secret} onStored={() => setSecret(null)} />
    </>
  )
}
