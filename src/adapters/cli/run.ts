import { parseArgs } from 'node:util'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { ConfigurationError } from '../../domain/run/configuration.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store-failure.ts'
import { WorktreeFailure } from '../../ports/worktrees.ts'
import type { CliCommand, Invocation, Output } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { EXIT } from './exit-codes.ts'
import { EndedOtherwise, UsageError } from './problems.ts'
import { renderProblems } from './render-configuration.ts'
import { plain } from './render-text.ts'

/** Where the command's words go: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly version: string
  readonly environment: Invocation['environment']
  /** Where there is none, nothing can be read. */
  readonly input?: Invocation['input']
  /** Where there is none, nothing interrupts. */
  readonly interruption?: Invocation['interruption']
}

/** Runs one command line and answers with the exit status. Never throws at a person. */
export const runCli = async (argv: readonly string[], terminal: Terminal): Promise<number> => {
  const { out, err, version } = terminal
  const [word = 'help'] = argv
  if (['help', '--help', '-h'].includes(word)) return show(out, help())
  if (['version', '--version', '-v'].includes(word)) return show(out, version)
  const found = findCommand(argv)
  if (found === undefined) return usage(err, `There is no command "${argv.slice(0, 2).join(' ')}".`)
  try {
    return await runCommand(found.command, found.rest, terminal)
  } catch (problem) {
    return report(problem, err)
  }
}

/** Commands have one word or two; the longer one wins. */
const findCommand = (argv: readonly string[]): { command: CliCommand; rest: readonly string[] } | undefined => {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ')
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (command !== undefined && argv.length >= words) return { command, rest: argv.slice(words) }
  }
  return undefined
}

const runCommand = async (command: CliCommand, rest: readonly string[], terminal: Terminal): Promise<number> => {
  const { out, err: notes, environment, input = async () => '' } = terminal
  const { interruption = () => new AbortController().signal } = terminal
  const { values, positionals } = parse(rest, { ...command.options, help: { type: 'boolean', short: 'h' } })
  if (values.help === true) return show(out, commandHelp(command))
  await command.run({ values, positionals, environment, out, notes, input, interruption })
  return EXIT.ok
}

const parse = (args: readonly string[], options: CliCommand['options']): Pick<Invocation, 'values' | 'positionals'> => {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return { values: values as Invocation['values'], positionals }
  } catch (cause) {
    throw new UsageError(plain(describeThrown(cause)), { cause })
  }
}

const show = (out: Output, text: string): number => {
  out.line(text)
  return EXIT.ok
}

const usage = (err: Output, problem: string): number => {
  err.line(`baton: ${onOneLine(problem)}\nRun "baton help" to see what there is.`)
  return EXIT.usage
}

const report = (problem: unknown, err: Output): number => {
  if (problem instanceof UsageError) return usage(err, problem.message)
  if (problem instanceof RefusedError) {
    err.line(`baton: ${onOneLine(problem.message)} (${problem.code})`)
    return EXIT.refused
  }
  if (problem instanceof EndedOtherwise) {
    err.line(`baton: ${problem.message}`)
    return problem.status
  }
  if (problem instanceof ConfigurationError) {
    err.line(`baton: The configuration cannot be used.\n${renderProblems(problem.problems)}`)
    return EXIT.refused
  }
  if (problem instanceof StoreFailure && problem.code === 'store.missing') {
    err.line(`baton: ${onOneLine(problem.message)} (${problem.code})\n${WHERE}`)
    return EXIT.noStore
  }
  if (problem instanceof WorktreeFailure) {
    err.line(`baton: ${plain(problem.message)} (${problem.code})`)
    return EXIT.refused
  }
  const code = problem instanceof StoreFailure ? ` (${problem.code})` : ''
  err.line(`baton: ${onOneLine(describeThrown(problem))}${code}`)
  return EXIT.failure
}

const WHERE =
  'Set DATABASE_URL or --database to read from a server, --data-dir to read another folder. "baton demo" makes a store.'

const commandHelp = ({ usage: line, summary, details }: CliCommand): string =>
  [`baton ${line}`, '', summary, ...(details === undefined ? [] : ['', details])].join('\n')

const help = (): string =>
  [
    'baton keeps an agent’s work going when its context window ends, and keeps the record.',
    '',
    'Commands:',
    ...Object.entries(COMMANDS).map(([words, { summary }]) => `  ${words.padEnd(20)} ${summary}`),
    `  ${'help'.padEnd(20)} show this; every command also takes --help`,
    `  ${'version'.padEnd(20)} show the version`,
    '',
    'Exit status: 0 done, 1 something broke, 2 the command line was not understood, 3 a rule said no,',
    '7 there is no store to read;',
    'of a run also 4 no restart left, 5 out of time, 6 taken over by another, 130 called off.',
  ].join('\n')
