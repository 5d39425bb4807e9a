/** The text of Open Dental's settings file; the values are put in as they are. */
export function openDentalSettings(database: { host: string; name: string; user?: string }): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<ConnectionSettings>
  <DatabaseConnection>
    <ComputerName>${database.host}</ComputerName>
    <Database>${database.name}</Database>
    <User>${database.user ?? 'root'}</User>
    <Password></Password>
    <MySQLPassHash></MySQLPassHash>
    <NoShowOnStartup>True</NoShowOnStartup>
  </DatabaseConnection>
  <DatabaseType>MySql</DatabaseType>
</ConnectionSettings>
`
}

/** The same where Open Dental asks its middle tier, and not the database itself. */
export const middleTierSettings = `<?xml version="1.0" encoding="utf-8"?>
<ConnectionSettings>
  <ServerConnection>
    <URI>http://server01/OpenDentalServer/ServiceMain.asmx</URI>
    <UsingEcw>False</UsingEcw>
  </ServerConnection>
</ConnectionSettings>
`
