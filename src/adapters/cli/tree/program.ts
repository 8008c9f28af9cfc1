import { type CommanderError, Option } from 'commander'
import { defined } from '../../../domain/kernel/defined.ts'
import { UsageError } from '../invocation/command-problems.ts'
import { EXIT, EXIT_MEANINGS } from '../invocation/exit-codes.ts'
import type { CliCommand, Flag, FlagValue } from '../invocation/invocation.ts'
import { BatonCommand } from './baton-command.ts'
import { CLI_COMMANDS, GROUPS } from './index.ts'

/** A command line that was understood. */
export interface Understood {
  readonly command: CliCommand
  readonly values: Readonly<Record<string, FlagValue | undefined>>
  readonly positionals: readonly string[]
}

/** How the program speaks and acts. */
export interface ProgramParts {
  readonly version: string
  /** Is given all of a help text. */
  readonly show: (text: string) => void
  readonly columns: number
  readonly act: (understood: Understood) => Promise<void>
}

/** The command tree as a parser. @throws UsageError from its `parseAsync`, or a CommanderError where help was shown */
export const programOf = ({ version, show, columns, act }: ProgramParts): BatonCommand => {
  const program = new BatonCommand('baton')
  program
    .description('Keeps an agent’s work going when its context window ends, and keeps the record.')
    .configureOutput({
      writeOut: show,
      writeErr: () => {},
      getOutHelpWidth: () => columns,
      getOutHasColors: () => false,
    })
    .configureHelp({ subcommandTerm: (command) => command.name(), minWidthToWrap: 20 })
    .usage('COMMAND')
    .enablePositionalOptions()
    .optionsGroup('Flags:')
    .version(version, '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', exitStatuses())
  for (const [words, command] of Object.entries(CLI_COMMANDS)) {
    const [first = '', second] = words.split(' ')
    const parent = second === undefined ? program : groupIn(program, first)
    grow(parent, second ?? first, command, act)
  }
  program
    .command('help')
    .description('show this, or the help of a command')
    .argument('[COMMAND...]')
    .action((words: readonly string[]) => helpOf(program, words))
  program
    .command('version')
    .description('show the version')
    .action(() => show(`${version}\n`))
  return program
}

/** Whether a command line ended in showing help or the version. */
export const isShown = (problem: unknown): problem is CommanderError =>
  problem instanceof Error && 'exitCode' in problem && problem.exitCode === 0 && 'code' in problem

const groupIn = (program: BatonCommand, name: string): BatonCommand => {
  const found = program.commands.find((command) => command.name() === name)
  if (found !== undefined) return found as BatonCommand
  return program
    .command(name)
    .description(GROUPS[name] ?? '')
    .usage('COMMAND')
    .optionsGroup('Flags:')
    .helpCommand(false) as BatonCommand
}

const grow = (parent: BatonCommand, name: string, command: CliCommand, act: ProgramParts['act']): void => {
  const { summary, details, takes, flags } = command
  const grown = parent.command(name) as BatonCommand
  grown.summary(summary).description(sentence(summary, details)).optionsGroup('Flags:').allowExcessArguments()
  grown.usage(
    [...(Object.keys(flags).length === 0 ? [] : ['[flags]']), ...(takes === undefined ? [] : [takes])].join(' '),
  )
  if (takes !== undefined) grown.argument(takes)
  for (const [flag, about] of Object.entries(flags)) grown.addOption(optionOf(flag, about))
  grown.action(() => {
    const [taken] = grown.registeredArguments
    const extra = taken?.variadic === true ? undefined : grown.args[taken === undefined ? 0 : 1]
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`)
    return act({ command, values: valuesOf(grown), positionals: grown.args })
  })
}

const sentence = (summary: string, details: string | undefined): string => {
  const first = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  return details === undefined ? first : `${first}\n\n${details}`
}

const optionOf = (name: string, { help, value, words, isMany, isValueOptional, group }: Flag): Option => {
  const helpLine = words === undefined ? help : `${help}: ${words.join(', ')}`
  const taken = isValueOptional === true ? ` [${value}]` : ` <${value}>`
  const option = new Option(`--${name}${value === undefined ? '' : taken}`, helpLine)
  if (isMany === true) option.argParser((given: string, before: readonly string[] = []) => [...before, given])
  return group === undefined ? option : option.helpGroup(group)
}

/** The flags that were given, by name. Commander keeps `--no-x` as an `x` that is false. */
const valuesOf = (command: BatonCommand): Understood['values'] =>
  defined(
    Object.fromEntries(
      command.options.map((option) => {
        const value = command.getOptionValue(option.attributeName()) as FlagValue | undefined
        return [option.name(), option.negate ? value === false || undefined : value]
      }),
    ),
  )

const helpOf = (program: BatonCommand, words: readonly string[]): void => {
  let command = program
  for (const word of words) {
    if (!command.isGroup) throw new UsageError(`"${word}" is one word too many.`)
    const next = command.commands.find((candidate) => candidate.name() === word)
    // Commander knows what was probably meant.
    if (next === undefined) command.parse([word], { from: 'user' })
    else command = next as BatonCommand
  }
  command.help()
}

const exitStatuses = (): string =>
  [
    '\nExit status:',
    ...Object.entries(EXIT).map(
      ([name, status]) => `  ${String(status).padEnd(4)} ${EXIT_MEANINGS[name as keyof typeof EXIT]}`,
    ),
  ].join('\n')
