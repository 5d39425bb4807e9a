import { emptyPage, type PackedPage, type Page, pageOf, unpackedBytes } from '../../../modules/records/read/page.ts'
import { isWhole } from '../../../modules/records/read/selection.ts'
import { keepBytes } from '../request-turn.ts'
import type { ListRequest } from './permit.ts'

/** The records that a list answers with. */
export async function readPage(list: ListRequest): Promise<Page | PackedPage> {
  const { context, dataset, request, permit, parameters, scope, selection, read } = list
  const { after, page, items, fields } = parameters
  if (scope.isEmpty) return emptyPage
  if (read) return pageOf(read.documents, items, isWhole(selection) ? permit.state.total : read.documents.length)
  if (dataset.pagination !== 'cursor') return await context.pages.readPage(permit, selection, page, items)
  if (!isWhole(selection) || fields !== null) return await context.pages.readAfter(permit, selection, after, items)
  const whole = await context.pages.readPacked(permit, after, items)
  // Known now, and much less than a page may have: others need not wait until this one is disclosed.
  if ('parts' in whole) keepBytes(request, unpackedBytes(whole))
  return whole
}
