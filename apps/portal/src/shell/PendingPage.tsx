import { Center, Loader, VisuallyHidden } from '@mantine/core'

/** What is shown while a page's data is on its way. */
export function PendingPage() {
  return (
    <Center mih="40vh" role="status">
      <Loader />
      <VisuallyHidden>Loading</VisuallyHidden>
    </Center>
  )
}
