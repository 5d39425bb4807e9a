import type { EnrolmentCode } from '@bridgework/contract/portal'
import { releaseVersion } from '@bridgework/contract/release'

type System = EnrolmentCode['systems'][number]
type Given = { publicUrl: string; code: string; packages: readonly string[] }

/**
 * What to download and to paste on the office's computer to install and enrol an agent, by system: docs/guides/install-the-agent.md explains each
 * step. `packages`: what this service hands out. Where there is none for a system, npm installs the package of all systems.
 */
export function enrolmentSystems(given: Given): System[] {
  return [
    windows(given) ?? windowsByNpm(given),
    macos(given) ?? macosByNpm(given),
    linux(given) ?? linuxByNpm(given),
    {
      name: 'Clone',
      note: 'In a clone of the Bridgework repository, without an installation.',
      downloads: [],
      steps: [
        { title: 'Enroll', command: `npm run agent -- ${enrollWith(given)}` },
        { title: 'Check', command: 'npm run agent -- check' },
        { title: 'Start', command: 'npm run agent -- run' },
      ],
    },
  ]
}

function windows(given: Given): System | null {
  const downloads = downloadsOf(given, /^bridgework-agent-(.+)-win32-x64\.msi$/, () => 'Installer for Windows')
  const [installer] = downloads
  if (!installer) return null
  return {
    name: 'Windows',
    note: 'In a PowerShell opened as administrator. Set-up finds Open Dental, asks for the rest, and checks everything.',
    downloads,
    steps: [
      {
        title: 'Install',
        command: [
          `Invoke-WebRequest -UseBasicParsing ${installer.url} -OutFile "$env:TEMP\\bridgework-agent.msi"`,
          // Its own quotes, because the folder may have the name of a person, with a space.
          'Start-Process -Wait msiexec -ArgumentList "/i `"$env:TEMP\\bridgework-agent.msi`" /qn"',
        ].join('\n'),
      },
      {
        title: 'Set up',
        command: `& "C:\\Program Files\\Bridgework Agent\\bridgework-agent.cmd" ${setUpWith(given)}`,
      },
    ],
  }
}

function macos(given: Given): System | null {
  const pattern = /^bridgework-agent-(.+)-darwin-(arm64|x64)\.tar\.gz$/
  const labels: Record<string, string> = { arm64: 'For Apple’s processors', x64: 'For Intel’s processors' }
  const downloads = downloadsOf(given, pattern, ([, , machine = '']) => labels[machine] ?? machine)
  const version = latest(given.packages, pattern)?.[1]
  if (version === undefined) return null
  return {
    name: 'macOS',
    note: 'In Terminal. Set-up asks for the database, and checks everything.',
    downloads,
    steps: [
      {
        title: 'Install',
        command: [
          `agent=bridgework-agent-${version}-darwin-$(uname -m | sed s/x86_64/x64/)`,
          `curl -fLO "${given.publicUrl}/downloads/$agent.tar.gz"`,
          'tar xzf "$agent.tar.gz" && (cd "$agent" && sudo ./install.sh)',
        ].join('\n'),
      },
      { title: 'Set up', command: `sudo bridgework-agent ${setUpWith(given)}` },
    ],
  }
}

function linux(given: Given): System | null {
  const pattern = /^bridgework-agent_(.+)_(amd64|arm64)\.deb$/
  const downloads = downloadsOf(given, pattern, ([, , machine = '']) => `Debian and Ubuntu, ${machine}`)
  const version = latest(given.packages, pattern)?.[1]
  if (version === undefined) return null
  return {
    name: 'Linux',
    note: 'On Debian or Ubuntu, as a person who may use sudo. Set-up asks for the database, and checks everything.',
    downloads,
    steps: [
      {
        title: 'Install',
        command: [
          `agent="bridgework-agent_${version}_$(dpkg --print-architecture).deb"`,
          `curl -fLo "/tmp/$agent" "${given.publicUrl}/downloads/$agent"`,
          'sudo apt-get install -y "/tmp/$agent"',
        ].join('\n'),
      },
      { title: 'Set up', command: `sudo bridgework-agent ${setUpWith(given)}` },
    ],
  }
}

function windowsByNpm(given: Given): System {
  const agent = '& "C:\\Program Files\\Bridgework\\bridgework-agent.cmd"'
  const { source, downloads, before } = npmPackage(given)
  return {
    name: 'Windows',
    note: `${before} Then paste into a PowerShell opened as administrator.`,
    downloads,
    steps: [
      {
        title: 'Install',
        command: [
          `npm install --global --prefix "C:\\Program Files\\Bridgework" ${source}`,
          'New-Item -ItemType Directory -Force "C:\\ProgramData\\Bridgework\\Agent"',
          'icacls "C:\\ProgramData\\Bridgework\\Agent" /inheritance:r /grant "SYSTEM:(OI)(CI)F" "Administrators:(OI)(CI)F"',
        ].join('\n'),
      },
      { title: 'Enroll', command: `${agent} ${enrollWith(given)}` },
      { title: 'Check', command: `${agent} check` },
      { title: 'Start', command: `${agent} run` },
    ],
  }
}

function macosByNpm(given: Given): System {
  const config = '--config "$HOME/.bridgework-agent/config.json"'
  const { source, downloads, before } = npmPackage(given)
  return {
    name: 'macOS',
    note: `${before} Then paste into Terminal.`,
    downloads,
    steps: [
      { title: 'Install', command: `sudo npm install --global ${source}\nmkdir -p -m 700 "$HOME/.bridgework-agent"` },
      {
        title: 'Enroll',
        command: `bridgework-agent ${enrollWith(given)} ${config} --state "$HOME/.bridgework-agent/state.sqlite"`,
      },
      { title: 'Check', command: `bridgework-agent check ${config}` },
      { title: 'Start', command: `bridgework-agent run ${config}` },
    ],
  }
}

function linuxByNpm(given: Given): System {
  const agent = 'sudo -u bridgework-agent bridgework-agent'
  const config = '--config /etc/bridgework-agent/config.json'
  const user = 'bridgework-agent'
  const { source, downloads, before } = npmPackage(given)
  return {
    name: 'Linux',
    note: `${before} Then paste into a shell, as a person who may use sudo.`,
    downloads,
    steps: [
      {
        title: 'Install',
        command: [
          `sudo npm install --global ${source}`,
          `sudo useradd --system --home-dir /var/lib/${user} --shell /usr/sbin/nologin ${user}`,
          `sudo install -d -m 700 -o ${user} -g ${user} /etc/${user} /var/lib/${user}`,
        ].join('\n'),
      },
      {
        title: 'Enroll',
        command: `${agent} ${enrollWith(given)} ${config} --state /var/lib/bridgework-agent/state.sqlite`,
      },
      { title: 'Check', command: `${agent} check ${config}` },
      {
        title: 'Start',
        command: [
          'sudo cp "$(npm root --global)/@bridgework/agent/systemd/bridgework-agent.service" /etc/systemd/system/',
          'sudo systemctl daemon-reload',
          'sudo systemctl enable --now bridgework-agent',
        ].join('\n'),
      },
    ],
  }
}

/** The package of all systems: from this service, or as the file that the operator hands out. */
function npmPackage(given: Given): { source: string; downloads: System['downloads']; before: string } {
  const downloads = downloadsOf(given, /^bridgework-agent-(.+)\.tgz$/, () => 'Package for npm')
  const [found] = downloads
  const node = 'Install Node.js 22.13 or newer first.'
  if (found) return { source: found.url, downloads, before: node }
  const source = `bridgework-agent-${releaseVersion}.tgz`
  return {
    source,
    downloads,
    before: `${node} The operator of Bridgework gives you the file ${source}: put it into the folder where you run the commands.`,
  }
}

function downloadsOf(
  { packages, publicUrl }: Given,
  pattern: RegExp,
  labelOf: (match: RegExpExecArray) => string,
): System['downloads'] {
  const newest = latest(packages, pattern)?.[1]
  return packages.flatMap((name) => {
    const match = pattern.exec(name)
    return match && match[1] === newest ? [{ label: labelOf(match), name, url: `${publicUrl}/downloads/${name}` }] : []
  })
}

/** The match with the highest version, of names that are alike but for it. */
function latest(packages: readonly string[], pattern: RegExp): RegExpExecArray | undefined {
  const matches = packages.map((name) => pattern.exec(name)).filter((match) => match !== null)
  return matches.sort((a, b) => a[0].localeCompare(b[0], 'en', { numeric: true })).at(-1)
}

function enrollWith({ publicUrl, code }: Given): string {
  return `enroll --server ${publicUrl} --code ${code} --db-user bridgework --db-name opendental`
}

function setUpWith({ publicUrl, code }: Given): string {
  return `setup --server ${publicUrl} --code ${code}`
}
