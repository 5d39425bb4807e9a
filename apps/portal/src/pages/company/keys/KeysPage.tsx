import type { KeyPairEntry, NewKeyPair } from '@bridgework/contract/portal'
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { CopyField } from '../../../ui/Copy.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { ButtonLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { useFound } from '../../../ui/state/found.ts'
import { When } from '../../../ui/When.tsx'
import { useCompany, useCompanyParams } from '../company.ts'
import { SecretDialog } from './SecretDialog.tsx'

/** The company's key pair: generate, regenerate, revoke. A secret is shown once and kept nowhere in the page. */
export function KeysPage() {
  const params = useCompanyParams()
  const company = useCompany()
  const pairs = useSuspenseQuery(read('listKeyPairs', { params })).data.data
  const may = useMay(params.company_id)
  const generate = useAct('generateKeyPair')
  const regenerate = useAct('regenerateKeyPair')
  const revoke = useAct('revokeKeyPair')
  const [shown, setShown] = useState<NewKeyPair | null>(null)
  const [asked, setAsked] = useState<'regenerate' | 'revoke' | null>(null)
  const live = pairs.find(({ state }) => state === 'live')
  const body = { client_id: live?.client_id ?? '' }
  const mayGenerate = may('key_pair.generate') && company.agreement.is_in_force && company.state === 'active'
  const close = () => setAsked(null)
  // Neither the answer nor anything else in the page holds the secret once its dialog is closed.
  const forget = () => {
    setShown(null)
    generate.reset()
    regenerate.reset()
  }
  return (
    <>
      <PageHeader
        title="API keys"
        description="The key pair that your software authenticates with. A company has one live key pair at a time."
        actions={
          !live &&
          mayGenerate && (
            <Button loading={generate.isPending} onClick={() => generate.mutate({ params }, { onSuccess: setShown })}>
              Generate key pair
            </Button>
          )
        }
      />
      <Stack>
        {!company.agreement.is_in_force && (
          <Alert variant="light">
            <Group justify="space-between">
              <Text size="sm" c="bright">
                Keys need the developer API agreement. The owner, {company.owner.name}, must accept it first.
              </Text>
              <ButtonLink size="xs" to="/company/$company_id/agreement" params={params}>
                Read the agreement
              </ButtonLink>
            </Group>
          </Alert>
        )}
        <ErrorNote error={generate.error} />
        {live && (
          <LivePair
            pair={live}
            actions={
              <>
                {mayGenerate && (
                  <Button variant="default" onClick={() => setAsked('regenerate')}>
                    Regenerate…
                  </Button>
                )}
                {may('key_pair.revoke') && (
                  <Button variant="default" onClick={() => setAsked('revoke')}>
                    Revoke…
                  </Button>
                )}
              </>
            }
          />
        )}
        <AllPairs pairs={pairs} />
      </Stack>
      <ConfirmDialog
        opened={asked === 'regenerate'}
        onClose={close}
        title="Regenerate the key pair?"
        typed={company.name}
        confirm="Regenerate key pair"
        onConfirm={async () => setShown(await regenerate.mutateAsync({ params, body }))}
      >
        The key pair <Code>{live?.client_id}</Code> and every token issued from it stop working at once. Your software
        cannot read data until it uses the new key pair. Grants from practices do not change.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'revoke'}
        onClose={close}
        title="Revoke the key pair?"
        typed={company.name}
        confirm="Revoke key pair"
        onConfirm={() => revoke.mutateAsync({ params, body })}
      >
        The key pair <Code>{live?.client_id}</Code> and every token issued from it stop working at once. Your software
        cannot read data until somebody generates a new key pair.
      </ConfirmDialog>
      <SecretDialog pair={shown} onStored={forget} />
    </>
  )
}

function LivePair({ pair, actions }: { pair: KeyPairEntry; actions: ReactNode }) {
  return (
    <Section
      title="Live key pair"
      description={
        <>
          Generated <When at={pair.created_at} />
          {pair.created_by && ` by ${pair.created_by}`} · last used: <When at={pair.last_used_at} />
        </>
      }
      actions={actions}
    >
      <CopyField label="Client id" value={pair.client_id} />
      <Text size="sm" c="dimmed">
        The secret was shown once, when the key pair was generated. We store only a hash of it. If the secret is lost,
        regenerate the key pair.
      </Text>
    </Section>
  )
}

function AllPairs({ pairs }: { pairs: readonly KeyPairEntry[] }) {
  const found = useFound(pairs, ({ client_id, created_by, revoked_by, state }) =>
    [client_id, created_by, revoked_by, state].join(' '),
  )
  return (
    <Section
      title="All key pairs"
      actions={pairs.length > 0 && <SearchField label="Search key pairs" placeholder="Client id or person" />}
    >
      {found.length === 0 ? (
        <EmptyState icon={IconKey} title={pairs.length === 0 ? 'No key pair yet' : 'No key pair matches the search'}>
          {pairs.length === 0 && 'The owner or an admin can generate one after the agreement is accepted.'}
        </EmptyState>
      ) : (
        <DataTable
          caption="Key pairs"
          rows={found}
          rowKey={({ id }) => id}
          columns={[
            { header: 'Client id', cell: ({ client_id }) => <Code>{client_id}</Code> },
            { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
            {
              header: 'Generated',
              cell: ({ created_at, created_by }) => (
                <>
                  <When at={created_at} />
                  {created_by && ` by ${created_by}`}
                </>
              ),
            },
            { header: 'Last used', cell: ({ last_used_at }) => <When at={last_used_at} /> },
            {
              header: 'Revoked',
              cell: ({ revoked_at, revoked_by }) => (
                <>
                  <When at={revoked_at} never="–" />
                  {revoked_by && ` by ${revoked_by}`}
                </>
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}
