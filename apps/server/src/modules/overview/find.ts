import type { FoundThing } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing } from '../../platform/database/search.ts'

const eachMax = 10

/**
 * Companies, organizations, locations, agents and people with this id, or with this text in their name or address: at most ten of each, those with
 * the id first. For the operator; no record is read.
 */
export async function findByText(db: Queryable, text: string): Promise<FoundThing[]> {
  if (text === '') return []
  const { rows } = await db.query<FoundThing>(
    [
      part('company', 'c.name', 'c.state', 'company c'),
      part('organization', 't.name', 'null::text', 'organization t'),
      part('location', 'l.name', 'o.name', 'location l join organization o on o.id = l.organization_id'),
      part('agent', 'a.name', 'o.name', 'agent a join organization o on o.id = a.organization_id'),
      part('person', 'u.name', 'u.email', 'portal_user u'),
    ].join(' union all '),
    [containing(text), text.toLowerCase(), eachMax],
  )
  return rows
}

/** One kind: what is found in is its name, and of a person also the address. */
function part(kind: FoundThing['kind'], name: string, detail: string, tables: string): string {
  const id = `${name.split('.')[0]}.id::text`
  const searched = kind === 'person' ? `(${name} || ' ' || ${detail})` : name
  return `(select '${kind}' as kind, ${id} as id, ${name} as name, ${detail} as detail
             from ${tables}
            where ${id} = $2 or ${searched} ilike $1
            order by ${id} = $2 desc, lower(${name}), ${id}
            limit $3)`
}
