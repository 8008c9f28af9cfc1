import { parseArgs } from 'node:util'
import { StoreFailure } from '../../ports/store-failure.ts'
import type { CliCommand, Output } from './command.ts'
import { demo } from './commands/demo.ts'
import { EXIT } from './exit-codes.ts'
import { RefusedError, UsageError } from './problems.ts'

const COMMANDS: Readonly<Record<string, CliCommand>> = { demo }

/** Where the command's words go: results to `out`, problems to `err`. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly version: string
}

/** Runs one command line and answers with the exit status. Never throws at a person. */
export const runCli = async (argv: readonly string[], { out, err, version }: Terminal): Promise<number> => {
  const [word = 'help', ...rest] = argv
  if (['help', '--help', '-h'].includes(word)) return show(out, help())
  if (['--version', '-v', 'version'].includes(word)) return show(out, version)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (command === undefined) return usage(err, `There is no command "${word}".`)
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parse(rest, options)
    if (values.help === true) return show(out, `baton ${command.usage}\n\n${command.summary}`)
    await command.run({ values, positionals, out })
    return EXIT.ok
  } catch (problem) {
    return report(problem, err)
  }
}

const parse = (args: readonly string[], options: CliCommand['options']) => {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return {
      values: parsed.values as Readonly<Record<string, string | boolean | undefined>>,
      positionals: parsed.positionals,
    }
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

const show = (out: Output, text: string): number => {
  out.line(text)
  return EXIT.ok
}

const usage = (err: Output, problem: string): number => {
  err.line(`baton: ${problem}\nRun "baton help" to see what there is.`)
  return EXIT.usage
}

const report = (problem: unknown, err: Output): number => {
  if (problem instanceof UsageError) return usage(err, problem.message)
  if (problem instanceof RefusedError) {
    err.line(`baton: ${problem.message} (${problem.refusal.code})`)
    return EXIT.refused
  }
  const code = problem instanceof StoreFailure ? ` (${problem.code})` : ''
  err.line(`baton: ${problem instanceof Error ? problem.message : String(problem)}${code}`)
  return EXIT.failure
}

const help = (): string =>
  [
    'baton keeps an agent’s work going when its context window ends, and keeps the record.',
    '',
    'Commands:',
    ...Object.entries(COMMANDS).map(([word, { summary }]) => `  ${word.padEnd(10)} ${summary}`),
    '  help       show this',
    '  version    show the version',
    '',
    'Exit status: 0 done, 1 something broke, 2 the command line was not understood, 3 a rule said no.',
  ].join('\n')
