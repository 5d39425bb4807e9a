import { type FilterName, filterFaults } from '@bridgework/contract/portal'

/** The space above a button that is beside fields with labels, at whose top they are aligned: a fault below one moves no other. */
export const belowLabel = 24

/** What stands at the field of a filter that the server does not accept; undefined where it does. */
export function fieldFault(name: FilterName, filters: object): string | undefined {
  const fault = filterFaults(filters)[name]
  return fault && `${fault.charAt(0).toUpperCase()}${fault.slice(1)}`
}
