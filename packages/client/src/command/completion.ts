import type { Command, Option } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { UsageError } from './usage-error.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** Written from the table of commands, so that what can be completed is what there is. */
export function completionOf(
  commands: () => Readonly<Record<string, Command>>,
  globalOptions: Readonly<Record<string, Option>>,
  firstArguments: Readonly<Record<string, readonly string[]>>,
): Command {
  return {
    summary: 'print a script that completes commands, options and datasets in a shell',
    usage: '<bash|zsh|fish>',
    details: [
      'bash, zsh: put  source <(bridgework completion bash)  into ~/.bashrc, or the same with zsh into ~/.zshrc.',
      'fish: bridgework completion fish > ~/.config/fish/completions/bridgework.fish',
    ],
    options: {},
    argsMax: 1,
    async run({ args: [shell], write }) {
      const found = shells.find((name) => name === shell)
      if (!found) throw new UsageError(`Missing argument: the shell. Shells: ${shells.join(', ')}`)
      const words = wordsOf(commands(), globalOptions, firstArguments)
      await write(
        found === 'fish' ? fish(commands(), words) : `${found === 'zsh' ? zshHead : ''}${bash(commands(), words)}`,
      )
      return exitCodes.done
    },
  }
}

type Words = {
  options: Record<string, string[]>
  first: Record<string, readonly string[]>
  values: Record<string, readonly string[]>
}

function wordsOf(
  commands: Readonly<Record<string, Command>>,
  globalOptions: Readonly<Record<string, Option>>,
  first: Readonly<Record<string, readonly string[]>>,
): Words {
  const all = Object.entries(commands)
  const values = all.flatMap(([, { options }]) =>
    Object.entries(options).flatMap(([name, { choices }]) => (choices ? [[`--${name}`, choices] as const] : [])),
  )
  return {
    options: Object.fromEntries(
      all.map(([name, { options }]) => [
        name,
        Object.keys({ ...options, ...globalOptions }).map((option) => `--${option}`),
      ]),
    ),
    first: { ...first, completion: shells },
    values: Object.fromEntries(values),
  }
}

const zshHead = 'autoload -U +X bashcompinit && bashcompinit\n'

function bash(commands: Readonly<Record<string, Command>>, { options, first, values }: Words): string {
  const valueCases = Object.entries(values).map(([option, choices]) => `    ${option}) words='${choices.join(' ')}' ;;`)
  const commandCases = Object.entries(options).map(([command, list]) => {
    const words = [...(first[command] ?? []), ...list]
    return `      ${command}) words='${words.join(' ')}' ;;`
  })
  return `_bridgework() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  case $before in
${valueCases.join('\n')}
    --output|--file|--to) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ -z "$words" ]; then
    if [ "$COMP_CWORD" -eq 1 ]; then words='${Object.keys(commands).join(' ')} --help --version'
    else case \${COMP_WORDS[1]} in
${commandCases.join('\n')}
    esac; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _bridgework bridgework
`
}

function fish(commands: Readonly<Record<string, Command>>, { first, values }: Words): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = ['complete -c bridgework -f']
  for (const [name, { summary, options }] of Object.entries(commands)) {
    lines.push(`complete -c bridgework -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`)
    const within = `-n '__fish_seen_subcommand_from ${name}'`
    if (first[name]) lines.push(`complete -c bridgework ${within} -a ${quoted(first[name].join(' '))}`)
    for (const [option, { value, summary: what }] of Object.entries(options)) {
      const choices = values[`--${option}`]
      const rest = value === undefined ? '' : choices ? ` -x -a ${quoted(choices.join(' '))}` : ' -r -F'
      lines.push(`complete -c bridgework ${within} -l ${option}${rest} -d ${quoted(what)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
