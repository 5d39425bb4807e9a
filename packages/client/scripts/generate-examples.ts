// Writes src/command/integration/examples.generated.ts, a record of each dataset, from the contract: npm run generate -w packages/client
import { join } from 'node:path'
import { datasets, findDataset } from '@bridgework/contract'

export const examplesFile = join(import.meta.dirname, '../src/command/integration/examples.generated.ts')

/** The file's text. */
export function generateExamples(): string {
  const lookup = (name: string) => {
    const embedded = findDataset(name)
    return embedded && { id: '1', source: embedded.example }
  }
  return [
    '// Made from the contract by scripts/generate-examples.ts. Do not edit: a test compares it.',
    '// biome-ignore-all format: it stays as the generator wrote it, so that the two can be compared',
    "import type { DatasetName } from '../../dataset-resource.ts'",
    '',
    '/** The attributes of an invented record of each dataset, in the list and as a single record. */',
    'export const examples: Record<DatasetName, { list: object; detail: object }> = {',
    ...datasets.map((dataset) => {
      const list = dataset.render(dataset.example, lookup)
      const detail = dataset.renderDetail?.(dataset.example) ?? {}
      return `  ${dataset.name}: { list: ${JSON.stringify(list)}, detail: ${JSON.stringify(detail)} },`
    }),
    '}',
    '',
  ].join('\n')
}
