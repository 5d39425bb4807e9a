import type { Membership } from '@bridgework/contract/portal'
import { Badge, Box, NavLink, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../language/t.ts'
import { waitingQuery } from '../pages/organization/waiting.ts'
import { isSandbox } from './environment.ts'
import { homeOf, menuFor } from './menu.ts'
import classes from './Shell.module.css'

/** The pages of a company, a practice or the operator in groups, with how many decisions wait where. `isShown`: one of them is shown. */
export function MainMenu({
  membership,
  isShown,
  onChosen,
}: {
  membership: Membership
  isShown: boolean
  onChosen: () => void
}) {
  const { side, id, support_until } = membership
  const { data: waiting } = useQuery({
    ...waitingQuery(id),
    enabled: isShown && side === 'organization' && support_until === null,
  })
  return menuFor(membership, isSandbox).map(({ heading, items }) => (
    <Box key={heading} role="group" aria-label={t(heading ?? 'Start')} className={classes.menuGroup}>
      {heading && (
        <Text size="xs" fw={600} c="dimmed" px="sm" py={4} aria-hidden>
          {t(heading)}
        </Text>
      )}
      {items.map((item) => {
        const count = item.waiting ? (waiting?.[item.waiting] ?? 0) : 0
        return (
          <NavLink
            key={item.path}
            component={Link}
            to={`${homeOf(membership)}${item.path}`}
            label={t(item.label)}
            // The link keeps its name, so the number is its description.
            title={count > 0 ? t('{count} to decide', { count }) : undefined}
            leftSection={<item.icon size={18} aria-hidden />}
            rightSection={
              count > 0 && (
                <Badge size="sm" color="red.8" aria-hidden>
                  {count > 99 ? '99+' : count}
                </Badge>
              )
            }
            className={classes.menuItem}
            // Every page of a side lies below its overview. The link marks itself as the current page.
            activeOptions={{ exact: item.path === '', includeSearch: false }}
            onClick={onChosen}
          />
        )
      })}
    </Box>
  ))
}
