/** A mail of many steps is too long for an address. */
const stepsMax = 10

/** What a person of the office's IT should do, as plain text for a mail. `origin`: of this service's pages. */
export function itStepsText(
  steps: readonly { title: string; text: string }[],
  { practice, organizationId, origin }: { practice: string; organizationId: string; origin: string },
): string {
  const shown = steps.slice(0, stepsMax)
  return [
    `Please do this for the practice “${practice}”, whose data Bridgework reads:`,
    ...shown.map(({ title, text }, index) => `${index + 1}. ${title}${/[.!?]$/.test(title) ? '' : '.'} ${text}`),
    `Agents and what they report: ${origin}/organization/${organizationId}/agents`,
    `How an agent is installed: ${origin}/guides/install-the-agent`,
  ].join('\n\n')
}

/** The address that opens this text as a new mail. */
export function mailtoOf(subject: string, text: string): string {
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replaceAll('\n', '\r\n'))}`
}
