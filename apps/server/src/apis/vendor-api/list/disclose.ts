import { extentOf, type PackedPage, type Page } from '../../../modules/records/read/page.ts'
import { isDelta, isWhole } from '../../../modules/records/read/selection.ts'
import { disclose, filtersOf } from './disclosed-read.ts'
import type { ListRequest } from './permit.ts'

/**
 * Puts on record what a page sends, and how many records a filter by patient or start matches: asked often enough, counts say all. What is known
 * without reading a record tells nothing of one.
 */
export async function discloseList(list: ListRequest, page: Page | PackedPage): Promise<void> {
  const { context, dataset, request, permit, parameters, scope, selection, read } = list
  if (scope.isEmpty) return
  const { records, lastId } = extentOf(page)
  const { after, fields } = parameters
  const isInterval = (dataset.pagination === 'cursor' && isWhole(selection)) || !('documents' in page)
  const coverage = isInterval ? { afterId: after, lastId: lastId ?? after } : { ids: page.documents.map(([id]) => id) }
  const counted = isDelta(selection) ? null : page.total
  if (!read?.isOnRecord && (records > 0 || counted !== null)) {
    await disclose(context, permit, request, { filters: filtersOf(selection, fields), coverage, records, counted })
  }
  request.logNotes.records = records
}
