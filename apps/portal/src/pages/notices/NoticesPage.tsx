import { type Notice, noticeKinds } from '@bridgework/contract/portal'
import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core'
import { IconBell, IconSettings } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useAct } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { type ListSearch, useUrlState } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { NoticeSettings } from './NoticeSettings.tsx'
import { noticesQueries } from './notices.ts'

/** What the person was notified of, the newest first, each with a link to where to act. */
export function NoticesPage() {
  const ids = useParams({ strict: false })
  const tenantId = ids.company_id ?? ids.organization_id ?? 'operator'
  const [search] = useUrlState<ListSearch>()
  const notices = useSuspenseQuery(noticesQueries(tenantId, search)[0]).data
  const { through_provider } = useSession()
  const read = useAct('markNoticesRead')
  const mark = (id: string, with_older: boolean) =>
    read.mutate({ params: { tenant_id: tenantId }, body: { id, with_older } })
  const [newest] = notices.data
  return (
    <>
      <PageHeader
        title="Notices"
        description="What you should know or act on. Notices are kept for 90 days."
        actions={
          <>
            {/* A session that a provider began has no account page. */}
            {!through_provider && (
              <ButtonLink
                to="/account"
                search={{ tab: 'notices' }}
                variant="default"
                leftSection={<IconSettings size={16} aria-hidden />}
              >
                Choose mails
              </ButtonLink>
            )}
            {newest && notices.page === 1 && (
              <Button
                onClick={() => mark(newest.id, true)}
                disabled={notices.unread === 0}
                loading={read.isPending && read.variables.body.with_older}
              >
                Mark all as read
              </Button>
            )}
          </>
        }
      />
      <Stack>
        <ErrorNote error={read.error} />
        {notices.total === 0 ? (
          <Card withBorder>
            <EmptyState icon={IconBell} title="No notices yet">
              When something needs your attention, it is shown here and mailed to you.
              {!through_provider && (
                <>
                  {' '}
                  <PageLink to="/account" search={{ tab: 'notices' }} inherit underline="always">
                    Choose which mails you get
                  </PageLink>
                  .
                </>
              )}
            </EmptyState>
          </Card>
        ) : (
          <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
            {notices.data.map((notice) => (
              <NoticeEntry key={notice.id} notice={notice} onRead={() => mark(notice.id, false)} />
            ))}
          </Stack>
        )}
        <Pages list={notices} />
        {through_provider && <NoticeSettings tenantId={tenantId} />}
      </Stack>
    </>
  )
}

function NoticeEntry({ notice, onRead }: { notice: Notice; onRead: () => void }) {
  const { title, body, kind, path, created_at, read_at } = notice
  const isUnread = read_at === null
  return (
    <Card withBorder component="li">
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={4} flex="1 1 20rem" miw={0}>
          <Group gap="xs">
            <Text fw={isUnread ? 700 : 500} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Text>
            {isUnread && <Badge size="sm">New</Badge>}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {body}
          </Text>
          <Text size="sm" c="dimmed">
            {noticeKinds[kind].title} · <When at={created_at} />
          </Text>
        </Stack>
        <Group gap="xs">
          {isUnread && (
            <Button size="xs" variant="subtle" onClick={onRead} aria-label={`Mark as read: ${title}`}>
              Mark as read
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            component={Link}
            to={path as string}
            onClick={() => isUnread && onRead()}
            aria-label={`Open: ${title}`}
          >
            Open
          </Button>
        </Group>
      </Group>
    </Card>
  )
}
