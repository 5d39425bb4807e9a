import pg from 'pg'
import { DatabaseStartError } from './start-error.ts'

/**
 * Gives the role that the server connects as what it needs and no more: rows of every table, but disclosures, what people did in the
 * portal and the seals of both only to add and to read, and the lists of migrations and of dropped months only to read. Run as the schema's owner after every migration. Does nothing when the server connects as the owner.
 */
export async function grantServerRole(owner: Pick<pg.Client, 'query'>, roleName: string): Promise<void> {
  const answer = await owner.query<{ isOwner: boolean; schemas: string; appendOnly: string; readOnly: string }>(
    `select rolname = current_user as "isOwner",
            array_to_string(current_schemas(false), ', ') as schemas,
            (select coalesce(string_agg(name, ', '), '') from unnest($2::text[]) name
              where to_regclass(name) is not null) as "appendOnly",
            (select string_agg(name, ', ') from unnest($3::text[]) name
              where to_regclass(name) is not null) as "readOnly"
       from pg_roles
      where rolname = $1`,
    [
      roleName,
      ['disclosure', 'audit_event', 'seal', 'practice_seal', 'seal_key_change'],
      ['migration', 'disclosure_drop'],
    ],
  )
  const [found] = answer.rows
  if (!found)
    throw new DatabaseStartError(`The role "${roleName}" that the server connects as does not exist in the database.`)
  if (found.isOwner) return
  const role = pg.escapeIdentifier(roleName)
  // One simple query is one transaction: at no moment may the role do more than it should.
  await owner.query(
    `grant usage on schema ${found.schemas} to ${role};
     grant select, insert, update, delete on all tables in schema ${found.schemas} to ${role};
     grant usage, select on all sequences in schema ${found.schemas} to ${role};
     revoke insert, update, delete, truncate, references, trigger on ${found.readOnly} from ${role};
     ${found.appendOnly && `revoke update, delete, truncate, references, trigger on ${found.appendOnly} from ${role};`}`,
  )
}
