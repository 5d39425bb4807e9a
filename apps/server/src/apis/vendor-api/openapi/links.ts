import { datasets } from '@bridgework/contract'
import { datasetOf } from './components.ts'

type Link = { operationId: string; description: string; parameters: Record<string, string> }

/** Where a success leads to: the operations whose parameters stand in its answer. */
export function linksOf(operationId: string): Record<string, Link> | undefined {
  const dataset = datasetOf(operationId)
  if (!dataset) return directoryLinks[operationId]
  const { list, get, digest, export: whole } = dataset.operationIds
  const location_id = '$request.path.location_id'
  const onward = (name: string, member: string) => ({
    operationId,
    description: 'The next page. There is none when `meta.has_more` is false.',
    parameters: { location_id, [name]: `$response.body#/meta/${member}` },
  })
  if (operationId === digest) return { next: onward('after', 'next_after') }
  if (operationId === get) {
    return { digest: { operationId: digest, description: 'The digest of its dataset.', parameters: { location_id } } }
  }
  if (operationId === whole) {
    return { list: { operationId: list, description: 'The next delta.', parameters: { location_id } } }
  }
  const isCursor = dataset.pagination === 'cursor'
  return {
    next: isCursor ? onward('after', 'next_after') : onward('page', 'next_page'),
    record: {
      operationId: get,
      description: 'The first of these records alone.',
      parameters: { location_id, id: '$response.body#/data/0/id' },
    },
    digest: { operationId: digest, description: `The digest of what ${list} lists.`, parameters: { location_id } },
  }
}

const ofFirst = { location_id: '$response.body#/data/0/id' }
const nextPage = (operationId: string) => ({
  operationId,
  description: 'The next page. There is none when `meta.has_more` is false.',
  parameters: { page: '$response.body#/meta/next_page' },
})

const directoryLinks: Record<string, Record<string, Link>> = {
  changes_list: {
    next: {
      operationId: 'changes_list',
      description: 'What comes after these rows: the next page, or what changes from now on.',
      parameters: { after: '$response.body#/meta/next_after' },
    },
  },
  auth_token_create: {
    locations: { operationId: 'locations_list', description: 'What the token may read.', parameters: {} },
  },
  organizations_list: {
    next: nextPage('organizations_list'),
    locations: {
      operationId: 'locations_list',
      description: 'The locations of the first of these organizations.',
      parameters: { organization_id: '$response.body#/data/0/id' },
    },
  },
  organizations_get: {
    locations: {
      operationId: 'locations_list',
      description: 'The locations of this organization.',
      parameters: { organization_id: '$request.path.organization_id' },
    },
  },
  locations_list: {
    next: nextPage('locations_list'),
    sync_status: {
      operationId: 'locations_sync_status_get',
      description: 'How current the first of these locations is.',
      parameters: ofFirst,
    },
    ...Object.fromEntries(
      datasets.map(({ name, title, operationIds }) => [
        name,
        {
          operationId: operationIds.list,
          description: `${title} of the first of these locations.`,
          parameters: ofFirst,
        },
      ]),
    ),
  },
  locations_get: {
    sync_status: {
      operationId: 'locations_sync_status_get',
      description: 'How current this location is.',
      parameters: { location_id: '$request.path.location_id' },
    },
  },
}
