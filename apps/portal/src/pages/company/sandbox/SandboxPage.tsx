import type { SandboxState } from '@bridgework/contract/portal'
import { Anchor, Stack, Text } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Facts } from '../../../ui/Facts.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { useCompanyParams } from '../company.ts'
import { RequestFault } from './RequestFault.tsx'
import { ResetPractice } from './ResetPractice.tsx'
import { SandboxAct } from './SandboxAct.tsx'

/** The company's demo practice as it is now, and what the company can let happen in it and to its own requests. */
export function SandboxPage() {
  const params = useCompanyParams()
  const sandbox = useSuspenseQuery(read('getSandbox', { params }, { everyMs: 5000 })).data.data
  const mayDrive = useMay(params.company_id)('sandbox.drive')
  return (
    <>
      <PageHeader
        title="Sandbox"
        description={
          <>
            Test your software against what is rare in a real practice. Everything here affects only your demo practice
            and your own requests.{' '}
            <Anchor href="/guides/drive-the-sandbox" target="_blank" inherit underline="always">
              The guide has the same as commands
            </Anchor>
          </>
        }
      />
      {sandbox === null ? (
        <EmptyState icon={IconFlask} title="No practice yet">
          Your company gets a demo practice within seconds of its sign-up. This page shows it as soon as it is there.
        </EmptyState>
      ) : (
        <Stack>
          <State sandbox={sandbox} />
          {mayDrive ? <Acts sandbox={sandbox} /> : <WhoMay action="sandbox.drive" what="change the sandbox" />}
        </Stack>
      )}
    </>
  )
}

function State({ sandbox: { practice, fault, token_lifetime_seconds } }: { sandbox: SandboxState }) {
  const { datasets_granted: datasets, silent_until } = practice
  return (
    <Section title="Now">
      <Facts
        facts={{
          'Practice id': practice.organization_id,
          'Your access': datasets.length === 0 ? 'None' : datasets.join(', '),
          'Office agent': silent_until ? (
            <>
              Silent, sends again <When at={silent_until} />
            </>
          ) : (
            'Sends data'
          ),
          'Next requests': fault ? `${fault.fault}, for ${formatCount(fault.requests_left)} more` : 'No fault',
          'New tokens': `Expire after ${formatCount(token_lifetime_seconds)} seconds`,
        }}
      />
      {!practice.is_own && (
        <Text size="sm" c="dimmed">
          This is the demo practice of the installation. It cannot be reset. A vendor that signs up gets a practice of
          its own.
        </Text>
      )}
    </Section>
  )
}

function Acts({ sandbox: { practice, fault } }: { sandbox: SandboxState }) {
  return (
    <>
      <Section title="Records" description="Your next delta has each change.">
        <SandboxAct
          button="Change records"
          amount={{ label: 'Patients', initial: 20, min: 1, max: 500 }}
          action={(records) => ({ action: 'change', records })}
        >
          This many patients get another preferred name.
        </SandboxAct>
        <SandboxAct
          button="Remove records"
          amount={{ label: 'Insurance plans', initial: 3, min: 1, max: 500 }}
          action={(records) => ({ action: 'remove', records })}
        >
          This many insurance plans are removed: they become hidden.
        </SandboxAct>
        <SandboxAct button="Hold a removal" action={() => ({ action: 'hold_removal' })}>
          So many insurance plans are removed at once that the service holds the removal.
        </SandboxAct>
        <SandboxAct button="Bring back" action={() => ({ action: 'bring_back' })}>
          Adds all removed plans again, under the same ids. A held removal ends.
        </SandboxAct>
        <SandboxAct button="Rename a carrier" action={() => ({ action: 'rename_carrier' })}>
          The carrier with the most plans gets another name, so many records change at once.
        </SandboxAct>
        <SandboxAct button="Merge two patients" action={() => ({ action: 'merge' })}>
          A patient is merged into another one, with all visits, treatments and ledger lines.
        </SandboxAct>
      </Section>
      <Section title="Office and access">
        <SandboxAct
          button="Silence the agent"
          amount={{ label: 'Minutes', initial: 20, min: 1, max: 120 }}
          action={(minutes) => ({ action: 'silence', minutes })}
        >
          The office sends nothing for this many minutes. Data is stale after 15 minutes, and disconnected after 60.
        </SandboxAct>
        {practice.silent_until && (
          <SandboxAct button="End the silence" action={() => ({ action: 'silence', minutes: 0 })}>
            The office sends data again.
          </SandboxAct>
        )}
        {practice.datasets_granted.length > 0 ? (
          <SandboxAct button="End access" action={() => ({ action: 'end_grant' })}>
            The practice ends your access to all of its data.
          </SandboxAct>
        ) : (
          <SandboxAct button="Grant access" action={() => ({ action: 'give_grant' })}>
            The practice grants you access to all of its data again.
          </SandboxAct>
        )}
      </Section>
      <Section title="Requests and tokens" description="Until the sandbox restarts.">
        <RequestFault />
        {fault && (
          <SandboxAct button="Clear the fault" action={() => ({ action: 'clear_faults' })}>
            Your requests are answered as usual.
          </SandboxAct>
        )}
        <SandboxAct
          button="Set lifetime"
          amount={{ label: 'Seconds', initial: 60, min: 60, max: 21_600 }}
          action={(seconds) => ({ action: 'token_lifetime', seconds })}
        >
          New tokens expire after this many seconds. Without a setting it is 21,600.
        </SandboxAct>
      </Section>
      {practice.is_own && <ResetPractice />}
    </>
  )
}
