import { quoted } from './postgres/postgres-layout.ts'

type Queryable = { query: (sql: string, values: unknown[]) => Promise<{ rows: Record<string, unknown>[] }> }

/**
 * PostgreSQL's predefined roles that reach beyond the database ("Predefined Roles" in its manual). A role's attributes SUPERUSER and REPLICATION
 * do so, too.
 */
const reachingRoles = ['pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files']

/** Functions that read or write the server's files, or run statements over another connection, where the transaction's being read-only does not hold. */
const reachingFunctions = '^(lo_import|lo_export|pg_read_(binary_)?file|pg_file_.*|dblink.*)$'

/**
 * Throws for a role that reaches the server's files or programs from a select, by itself or as a member of another one: a read-only transaction
 * does not keep it from that. With `isReader` for one that could write into the mirror, too. The message says how to make another role.
 */
export async function requireReader(client: Queryable, { isReader = false } = {}): Promise<void> {
  const { rows } = await client.query(
    `with own as (select * from pg_roles where pg_has_role(session_user, oid, 'member'))
     select session_user::text as name, coalesce(schema.owner, session_user)::text as owner,
            (select 'superuser' from own where rolsuper
              union all select 'replication' from own where rolreplication
              union all select rolname::text from own where rolname = any ($1)
              union all select proname::text from pg_proc
               where proname ~ $2 and exists (select from own where has_function_privilege(own.oid, pg_proc.oid, 'execute'))
              limit 1) as reach,
            (select 'create' from own where $3 and schema.oid is not null and has_schema_privilege(own.oid, schema.oid, 'create')
              union all
             select 'write ' || relname from pg_class, own
              where $3 and relnamespace = schema.oid and relkind in ('r', 'v', 'm', 'p', 'f')
                and (has_table_privilege(own.oid, pg_class.oid, 'insert, update, delete, truncate, trigger')
                     or has_any_column_privilege(own.oid, pg_class.oid, 'insert, update'))
              limit 1) as write
       from (values (1)) one
       left join (select oid, pg_get_userbyid(nspowner) as owner from pg_namespace where nspname = 'bridgework') schema on true`,
    [reachingRoles, reachingFunctions, isReader],
  )
  const [row] = rows
  if (!row || (row.reach === null && row.write === null)) return
  const could =
    row.reach === null
      ? `write into the mirror (${row.write})`
      : `reach more than this database with a query (${row.reach})`
  throw new Error(
    `The role ${row.name} could ${could}, so it is not used to ask. Create one that can only read, and put it into the URL: ${readingRole('analyst', String(row.owner)).join(' ')}`,
  )
}

/** The statements that make a role which reads a mirror, also the tables that a later version adds, and changes nothing. `owner`: the mirror's role. */
export function readingRole(name: string, owner: string): string[] {
  const role = quoted(name)
  return [
    `create role ${role} login password 'choose one';`,
    `grant usage on schema bridgework to ${role};`,
    `grant select on all tables in schema bridgework to ${role};`,
    `alter default privileges for role ${quoted(owner)} in schema bridgework grant select on tables to ${role};`,
  ]
}
