/** A mail's text in parts: those that are addresses of this installation are links, and no other's. */
export function partsOfMail(text: string, origin: string): { text: string; href?: string }[] {
  return text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith(`${origin}/`) ? { text: part, href: part } : { text: part }))
}
