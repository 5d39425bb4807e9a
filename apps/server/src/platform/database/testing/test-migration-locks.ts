import { schemas } from '../schemas.ts'

/** Tables that grow with records, requests or time: what locks them for long stops the service of a large installation. */
export const largeTables = [
  ...['record', 'record_reference', 'record_count', 'rerender_work', 'upload', 'packed_body', 'segment'],
  ...[
    'complete_list_missing',
    'removal_record',
    'disclosure',
    'disclosed_day',
    'vendor_request',
    'vendor_usage',
    'audit_event',
    'agent_hour',
  ],
  ...['notice', 'mail', 'token_attempt', 'sign_in_attempt', 'portal_session', 'session_use', 'dataset_state'],
]

const large = `(?:(?:${schemas.join('|')})\\.)?"?(${largeTables.join('|')})"?\\b`

/** A statement that locks a large table while all its rows are read or written, and what to write in its place. */
const rules: readonly { pattern: RegExp; instead: string; except?: RegExp }[] = [
  {
    pattern: new RegExp(`^create (?:unique )?index (?!concurrently).*? on (?:only )?${large}`),
    instead: 'create index concurrently, in a migration that begins with "-- Outside a transaction"',
  },
  { pattern: new RegExp(`^reindex .*?${large}`), instead: 'reindex concurrently', except: /concurrently/ },
  {
    pattern: new RegExp(
      `^alter table (?:only )?(?:if exists )?${large}.*? add (?:column )?(?!constraint|check|foreign|unique|primary).*?default [^,]*\\(`,
    ),
    instead: 'add the column without a default, set the default, and fill old rows in slices',
    except: /default (?:now|current_timestamp|statement_timestamp|transaction_timestamp)\(\)/,
  },
  {
    pattern: new RegExp(`^alter table (?:only )?(?:if exists )?${large}.*? (?:generated always as \\(|as identity)`),
    instead: 'a plain column that the code fills',
  },
  {
    pattern: new RegExp(`^alter table (?:only )?(?:if exists )?${large}.*? set not null`),
    instead:
      'add a check (… is not null) not valid, validate it in the next migration, then set not null under "-- Lock: that check is validated"',
  },
  {
    pattern: new RegExp(`^alter table (?:only )?(?:if exists )?${large}.*? alter (?:column )?\\S+ (?:set data )?type `),
    instead: 'a new column, filled in slices',
  },
  {
    pattern: new RegExp(
      `^alter table (?:only )?(?:if exists )?${large}.*? add (?:constraint \\S+ )?(?:check|foreign key)`,
    ),
    instead: 'add the constraint not valid, and validate it in the next migration',
    except: /not valid/,
  },
  {
    pattern: new RegExp(
      `^alter table (?:only )?(?:if exists )?${large}.*? add (?:column )?\\S+ [^,]*(?:references|check \\(|unique|primary key)`,
    ),
    instead: 'the column first, then its constraint not valid, or a unique index concurrently',
    except: /using index|not valid/,
  },
  {
    pattern: new RegExp(
      `^alter table (?:only )?(?:if exists )?${large}.*? add (?:constraint \\S+ )?(?:unique|primary key|exclude)`,
    ),
    instead: 'a unique index concurrently, then add the constraint using index',
    except: /using index/,
  },
  { pattern: new RegExp(`^update (?:only )?${large}`), instead: 'fill the rows in slices, by a job of the service' },
  {
    pattern: new RegExp(`^delete from (?:only )?${large}`),
    instead: 'delete the rows in slices, by a job of the service',
  },
  { pattern: new RegExp(`^(?:cluster|vacuum full|lock table)\\b.*?${large}`), instead: 'leave it to the operator' },
]

/**
 * The statements of a migration that hold a large table for long. One that is short for another reason says so in a comment right above it:
 * "-- Lock: why".
 */
export function findLongLocks(sql: string): string[] {
  const made = new Set(
    [...sql.matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+)/gi)].map(([, name]) => name),
  )
  return statementsOf(sql).flatMap(({ text, isExplained }) => {
    if (isExplained) return []
    const broken = rules.find(({ pattern, except }) => pattern.test(text) && !except?.test(text))
    const table = broken?.pattern.exec(text)?.[1] ?? ''
    return broken && !made.has(table) ? [`${text.slice(0, 80)}: ${broken.instead}`] : []
  })
}

/** In one line each, without comments and the bodies of functions. */
function statementsOf(sql: string): { text: string; isExplained: boolean }[] {
  const code = sql.replaceAll(/\$(\w*)\$.*?\$\1\$/gs, "''")
  return code.split(/;\s*$/m).map((statement) => ({
    text: statement.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim().toLowerCase(),
    isExplained: /^-- Lock: \S/m.test(statement),
  }))
}
