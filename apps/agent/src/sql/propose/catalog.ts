import type { SqlSession } from '../session.ts'
import type { EngineName } from '../settings.ts'

/** A column as the database describes it. `references`: the table that its values are keys of. */
export type CatalogColumn = {
  readonly name: string
  readonly type: string
  readonly isKey: boolean
  readonly references: { readonly table: string; readonly column: string | null } | null
}

/** `schema`: null where the name alone is enough. */
export type CatalogTable = {
  readonly schema: string | null
  readonly name: string
  readonly columns: readonly CatalogColumn[]
}

/** The tables and views that the account may read, with their columns in their own order. */
export async function readCatalog(session: SqlSession, engine: EngineName): Promise<CatalogTable[]> {
  const tables = new Map<string, { schema: string | null; name: string; columns: CatalogColumn[] }>()
  const order = ['table_schema', 'table_name', 'place'].map(session.quoted)
  const chunks = session.catalog?.() ?? session.read({ select: catalogs[engine], order })
  for await (const { rows } of chunks) {
    for (const [schema = null, table, column, type, isKey, ofTable, ofColumn = null] of rows) {
      if (typeof table !== 'string' || typeof column !== 'string') continue
      const key = JSON.stringify([schema, table])
      const known = tables.get(key) ?? { schema, name: table, columns: [] }
      tables.set(key, known)
      // A column may be in two foreign keys.
      if (known.columns.some(({ name }) => name === column)) continue
      const references = typeof ofTable === 'string' ? { table: ofTable, column: ofColumn } : null
      known.columns.push({ name: column, type: type ?? '', isKey: isKey === '1', references })
    }
  }
  return [...tables.values()]
}

/** Each gives: schema, table, column, type, whether it is in the primary key, the table and column that it refers to, its place. */
const catalogs: Readonly<Record<EngineName, string>> = {
  postgresql: `
    select case when pg_table_is_visible(c.oid) then null else n.nspname::text end as table_schema, c.relname::text as table_name,
           a.attname::text as column_name, format_type(a.atttypid, a.atttypmod) as type,
           (exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)))::integer as is_key,
           f.relname::text as of_table, o.attname::text as of_column, a.attnum as place
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_constraint k on k.conrelid = c.oid and k.contype = 'f' and k.conkey = array[a.attnum]
      left join pg_class f on f.oid = k.confrelid
      left join pg_attribute o on o.attrelid = k.confrelid and o.attnum = k.confkey[1]
     where c.relkind in ('r', 'v', 'm', 'p', 'f') and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
       and has_column_privilege(c.oid, a.attnum, 'select')`,
  mysql: `
    select null as table_schema, c.TABLE_NAME as table_name, c.COLUMN_NAME as column_name, concat(c.COLUMN_TYPE, ' ', c.EXTRA) as type,
           if(c.COLUMN_KEY = 'PRI', 1, 0) as is_key, k.REFERENCED_TABLE_NAME as of_table, k.REFERENCED_COLUMN_NAME as of_column,
           c.ORDINAL_POSITION as place
      from information_schema.COLUMNS c
      left join information_schema.KEY_COLUMN_USAGE k
        on k.TABLE_SCHEMA = c.TABLE_SCHEMA and k.TABLE_NAME = c.TABLE_NAME and k.COLUMN_NAME = c.COLUMN_NAME
       and k.REFERENCED_TABLE_NAME is not null
     where c.TABLE_SCHEMA = database()`,
  sqlite: `
    select null as table_schema, t.name as table_name, c.name as column_name, c.type as type, min(c.pk, 1) as is_key,
           f."table" as of_table, f."to" as of_column, c.cid as place
      from sqlite_schema t
      join pragma_table_info(t.name) c
      left join pragma_foreign_key_list(t.name) f on f."from" = c.name collate nocase
     where t.type in ('table', 'view') and t.name not like 'sqlite\\_%' escape '\\'`,
  sqlserver: `
    select nullif(schema_name(o.schema_id), schema_name()) as table_schema, o.name as table_name, c.name as column_name,
           type_name(c.user_type_id) as type,
           case when exists (select 1 from sys.indexes i
                               join sys.index_columns m on m.object_id = i.object_id and m.index_id = i.index_id
                              where i.object_id = o.object_id and i.is_primary_key = 1 and m.column_id = c.column_id)
                then 1 else 0 end as is_key,
           object_name(f.referenced_object_id) as of_table, col_name(f.referenced_object_id, f.referenced_column_id) as of_column,
           c.column_id as place
      from sys.objects o
      join sys.columns c on c.object_id = o.object_id
      left join sys.foreign_key_columns f on f.parent_object_id = o.object_id and f.parent_column_id = c.column_id
     where o.type in ('U', 'V') and o.is_ms_shipped = 0`,
  // The driver tells it.
  odbc: '',
}
