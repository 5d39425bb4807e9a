/** `insurance_plans` → "Insurance plans": a dataset's name as people read it. */
export function datasetTitle(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** "Appointments" or "Appointments, with notes". */
export function titleWithNotes({ dataset, notes }: { dataset: string; notes: boolean }): string {
  return `${datasetTitle(dataset)}${notes ? ', with notes' : ''}`
}
