import type { QueryResultRow } from 'pg'
import type { Queryable } from './queryable.ts'

/** The pattern of `ilike` that finds texts with this text in them; '' finds all. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

export type Sort<Column extends string> = { by: Column; isDescending: boolean }

/** The `order by` of a sort, of the expressions of its columns; nulls last. `otherwise`: without a sort, and what decides among equals. */
export function orderOf<Column extends string>(
  sort: Sort<Column> | null,
  columns: Readonly<Record<Column, string>>,
  otherwise: string,
): string {
  return sort === null ? otherwise : `${columns[sort.by]}${sort.isDescending ? ' desc' : ''} nulls last, ${otherwise}`
}

/** A part of what a select finds, in this order, and how much it finds in all: also where the part is beyond the end. */
export async function queryPage<Row extends QueryResultRow>(
  db: Queryable,
  select: string,
  order: string,
  page: { limit: number; offset: number },
  values: readonly unknown[],
): Promise<{ total: number; rows: Row[] }> {
  const { rows } = await db.query<Row & { total: string; is_row: boolean | null }>(
    `with found as (${select})
     select counted.total, page.*
       from (select count(*) as total from found) counted
       left join (
            select true as is_row, found.*
              from found
             order by ${order}
             limit $${values.length + 1} offset $${values.length + 2}) page on true
      order by ${order}`,
    [...values, page.limit, page.offset],
  )
  // An empty page is one row that only tells the total.
  return { total: Number(rows[0]?.total ?? 0), rows: rows.filter((row) => row.is_row) }
}
