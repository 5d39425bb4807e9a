import type { OperatorCompany } from '@bridgework/contract/portal'
import { ActionIcon, Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconChevronDown, IconDots } from '@tabler/icons-react'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { useMay, useNeedsReason } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { companyStates } from './company-search.ts'
import { VerifyCompany } from './VerifyCompany.tsx'

type CompanyState = OperatorCompany['state']

const actions = {
  suspended: {
    button: 'Suspend',
    text: 'Its keys stop working at once, until you resume it. Grants and members do not change.',
    color: 'red.9',
  },
  active: { button: 'Resume', text: 'Its keys work again. It can read what practices grant it.', color: 'indigo' },
  closed: {
    button: 'Close',
    text: 'Its keys stop working at once. Close a company that no longer uses Bridgework. The record of what it read is kept.',
    color: 'red.9',
  },
} as const satisfies Record<CompanyState, object>

/** What an operator may do with a company: a menu behind dots in a table, or behind a button with its name. */
export function CompanyActions({ company, label }: { company: OperatorCompany; label?: string }) {
  const may = useMay('operator')
  const needsReason = useNeedsReason()
  const setState = useAct('setCompanyState')
  const [isVerifying, setVerifying] = useState(false)
  const [asked, setAsked] = useState<CompanyState | null>(null)
  const next = companyStates.filter(
    (state) => state !== company.state && (state !== 'closed' || may('operator.company_close')),
  )
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          {label ? (
            <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />}>
              {label}
            </Button>
          ) : (
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${company.name}`}>
              <IconDots size={18} />
            </ActionIcon>
          )}
        </Menu.Target>
        <Menu.Dropdown>
          {may('operator.company_verify') && (
            <Menu.Item onClick={() => setVerifying(true)}>
              {company.verified_at ? 'Take verification back…' : 'Verify…'}
            </Menu.Item>
          )}
          {next.map((state) => (
            <Menu.Item key={state} onClick={() => setAsked(state)}>
              {actions[state].button}…
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={asked ? `${actions[asked].button} ${company.name}?` : ''}
        typed={company.name}
        reason={needsReason ? 'required' : 'optional'}
        confirm={asked ? actions[asked].button : ''}
        color={asked ? actions[asked].color : 'red.9'}
        onConfirm={async (reason) => {
          if (!asked) return
          const body = { state: asked, ...(reason && { reason }) }
          await setState.mutateAsync({ params: { company_id: company.id }, body })
          notifications.show({ message: `${company.name} is ${asked}.` })
        }}
      >
        {asked && actions[asked].text}
      </ConfirmDialog>
      <VerifyCompany company={isVerifying ? company : null} onClose={() => setVerifying(false)} />
    </>
  )
}
