import { limits } from '@bridgework/contract'
import { Type } from 'typebox'
import { changesParameters } from '../parameters.ts'
import { querySchema } from '../query.ts'
import { component } from './components.ts'
import { answers } from './refusal-schemas.ts'
import { ofBearer } from './schemas.ts'

/** What OpenAPI says of /changes. */
export const changesSchema = {
  operationId: 'changes_list',
  tags: ['Locations'],
  summary: 'List what changed of all that this credential may read',
  description: `Tells which datasets to ask for a delta, and which grants, locations and keys began or ended. Without after, the rows are all that there is. Pass meta.next_after as after, with wait: the answer comes when something changed, at the latest after ${limits.changesWaitSecondsMax} seconds. A row says what is true now, and may come twice. Contains no patient data and takes no slot.`,
  querystring: querySchema(changesParameters),
  ...answers(
    Type.Object(
      { data: Type.Array(component('Change')), meta: component('ChangesMeta') },
      { description: 'Rows of several types' },
    ),
    ofBearer,
  ),
}
