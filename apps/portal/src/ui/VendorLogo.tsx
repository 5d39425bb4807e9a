import { Avatar } from '@mantine/core'

/** A vendor's logo; its initials where it has none. Decoration beside its name. */
export function VendorLogo({ name, logo, size = 40 }: { name: string; logo: string | null; size?: number }) {
  if (logo === null) return <Avatar name={name} size={size} radius="md" aria-hidden style={{ flexShrink: 0 }} />
  return (
    <img
      src={logo}
      alt=""
      width={size}
      height={size}
      // Logos are made for white paper, also in the dark.
      style={{ flexShrink: 0, background: 'white', borderRadius: 8, objectFit: 'contain' }}
    />
  )
}
