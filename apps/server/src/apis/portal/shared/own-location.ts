import { type DatasetName, isDatasetName } from '@bridgework/contract'
import { findLocation, type Location } from '../../../modules/directory/location.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type LocationId, type OrganizationId, parseNumericId } from '../../../platform/identity/identity.ts'

/** The location of the text, when it is the organization's own; one of another organization gets the answer of one that does not exist. Throws Problem location_unknown. */
export async function requireOwnLocation(
  db: Queryable,
  organizationId: OrganizationId,
  text: string | undefined,
): Promise<Location> {
  const id = parseNumericId<LocationId>(text ?? '')
  const location = id && (await findLocation(db, id))
  if (!location || location.organizationId !== organizationId) throw new Problem('location_unknown')
  return location
}

/** The dataset of a path. Throws Problem dataset_unknown. */
export function requireDataset(text: string | undefined): DatasetName {
  if (text === undefined || !isDatasetName(text)) throw new Problem('dataset_unknown')
  return text
}
