import type { EnrolmentCode } from '@bridgework/contract/portal'

/** What to paste on the office's computer to enrol an agent: docs/guides/install-the-agent.md tells the rest. */
export function enrolmentCommands(publicUrl: string, code: string): EnrolmentCode['commands'] {
  const service = `--server ${publicUrl} --code ${code}`
  const openDental = '--db-user bridgework --db-name opendental'
  const linux = 'sudo -u bridgework-agent bridgework-agent'
  const linuxFiles = '--config /etc/bridgework-agent/config.json --state /var/lib/bridgework-agent/state.sqlite'
  const windows = '& "C:\\Program Files\\Bridgework\\bridgework-agent.cmd"'
  const windowsFiles = '--config C:\\ProgramData\\Bridgework\\config.json'
  return [
    { title: 'Linux, Open Dental', command: `${linux} enroll ${service} ${openDental} ${linuxFiles}` },
    {
      title: 'Windows (PowerShell as administrator), Open Dental',
      command: `${windows} enroll ${service} ${openDental} ${windowsFiles}`,
    },
    {
      title: 'Any other system, from export files',
      command: `bridgework-agent enroll ${service} --connector files --folder <folder> --mapping <mapping.toml>`,
    },
    { title: 'From a clone of Bridgework', command: `npm run agent -- enroll ${service} ${openDental}` },
  ]
}
