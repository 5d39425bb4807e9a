import type { EnrolmentCode } from '@bridgework/contract/portal'
import { releaseVersion } from '@bridgework/contract/release'

/** The file that `npm pack -w apps/agent` makes, which the operator hands to a practice. */
export const agentPackage = `bridgework-agent-${releaseVersion}.tgz`

/** What to paste on the office's computer to install and enrol an agent, by system: docs/guides/install-the-agent.md explains each step. */
export function enrolmentSteps(publicUrl: string, code: string): EnrolmentCode['systems'] {
  const enroll = `enroll --server ${publicUrl} --code ${code}`
  const openDental = '--db-user bridgework --db-name opendental'
  return [
    { name: 'Windows', note: 'In a PowerShell opened as administrator.', steps: windows(`${enroll} ${openDental}`) },
    { name: 'macOS', note: 'In Terminal.', steps: macos(`${enroll} ${openDental}`) },
    { name: 'Linux', note: 'In a shell, as a person who may use sudo.', steps: linux(`${enroll} ${openDental}`) },
    {
      name: 'Clone',
      note: 'In a clone of the Bridgework repository, without an installation.',
      steps: [
        { title: 'Enroll', command: `npm run agent -- ${enroll} ${openDental}` },
        { title: 'Check', command: 'npm run agent -- check' },
        { title: 'Start', command: 'npm run agent -- run' },
      ],
    },
  ]
}

type Steps = EnrolmentCode['systems'][number]['steps']

function windows(enroll: string): Steps {
  const agent = '& "C:\\Program Files\\Bridgework\\bridgework-agent.cmd"'
  const config = '--config C:\\ProgramData\\Bridgework\\config.json'
  return [
    {
      title: 'Install',
      command: [
        `npm install --global --prefix "C:\\Program Files\\Bridgework" ${agentPackage}`,
        'New-Item -ItemType Directory -Force "C:\\ProgramData\\Bridgework"',
        'icacls "C:\\ProgramData\\Bridgework" /inheritance:r /grant "SYSTEM:(OI)(CI)F" "Administrators:(OI)(CI)F" "LOCAL SERVICE:(OI)(CI)M"',
      ].join('\n'),
    },
    { title: 'Enroll', command: `${agent} ${enroll} ${config}` },
    { title: 'Check', command: `${agent} check ${config}` },
    { title: 'Start', command: `${agent} run ${config}` },
  ]
}

function macos(enroll: string): Steps {
  const config = '--config "$HOME/.bridgework-agent/config.json"'
  return [
    {
      title: 'Install',
      command: `sudo npm install --global ${agentPackage}\nmkdir -p -m 700 "$HOME/.bridgework-agent"`,
    },
    {
      title: 'Enroll',
      command: `bridgework-agent ${enroll} ${config} --state "$HOME/.bridgework-agent/state.sqlite"`,
    },
    { title: 'Check', command: `bridgework-agent check ${config}` },
    { title: 'Start', command: `bridgework-agent run ${config}` },
  ]
}

function linux(enroll: string): Steps {
  const agent = 'sudo -u bridgework-agent bridgework-agent'
  const config = '--config /etc/bridgework-agent/config.json'
  const user = 'bridgework-agent'
  return [
    {
      title: 'Install',
      command: [
        `sudo npm install --global ${agentPackage}`,
        `sudo useradd --system --home-dir /var/lib/${user} --shell /usr/sbin/nologin ${user}`,
        `sudo install -d -m 700 -o ${user} -g ${user} /etc/${user} /var/lib/${user}`,
      ].join('\n'),
    },
    { title: 'Enroll', command: `${agent} ${enroll} ${config} --state /var/lib/bridgework-agent/state.sqlite` },
    { title: 'Check', command: `${agent} check ${config}` },
    {
      title: 'Start',
      command: [
        'sudo cp "$(npm root --global)/@bridgework/agent/systemd/bridgework-agent.service" /etc/systemd/system/',
        'sudo systemctl daemon-reload',
        'sudo systemctl enable --now bridgework-agent',
      ].join('\n'),
    },
  ]
}
