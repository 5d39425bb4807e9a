/** An account as MariaDB and MySQL write it: a user, and the computers from which it may come. */
export type Account = { readonly user: string; readonly host: string }

/** `'user'@'host'`, for a statement. */
export function accountText({ user, host }: Account): string {
  return `${quoted(user)}@${quoted(host)}`
}

/** The statement that lets an account read a database. */
export function grantStatement(database: string, account: Account): string {
  return `grant select on ${pattern(database)}.* to ${accountText(account)}`
}

/** The account that a server's message names: "Access denied for user 'x'@'y' (using password: YES)"; null: none. */
export function accountNamed(message: string): Account | null {
  const [, user, host] = /'([^']*)'@'([^']*)'/.exec(message) ?? []
  return user === undefined || host === undefined ? null : { user, host }
}

/** What `current_user()` answers: `user@host`, without quotes. */
export function accountOf(currentUser: string): Account {
  const at = currentUser.lastIndexOf('@')
  return { user: currentUser.slice(0, at), host: currentUser.slice(at + 1) }
}

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`
}

/** In a grant "_" and "%" stand for other characters. */
function pattern(database: string): string {
  return `\`${database.replace(/[_%]/g, (character) => `\\${character}`).replaceAll('`', '``')}\``
}
