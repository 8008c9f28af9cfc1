import type { Invocation, Output } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { isShown, programOf, type Understood } from './program.ts'
import { USUAL_HELP_COLUMNS, writeHelp } from './write-help.ts'

/** Where the command's words go: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly version: string
  readonly environment: Invocation['environment']
  /** Where there is none, nothing can be read. */
  readonly input?: Invocation['input']
  /** Where there is none, nobody is asked. */
  readonly ask?: Invocation['ask']
  /** Where there is none, nothing interrupts. */
  readonly interruption?: Invocation['interruption']
}

/** Runs one command line and answers with the exit status. Never throws at a person. */
export const runCli = async (argv: readonly string[], terminal: Terminal): Promise<number> => {
  const { out, err, version } = terminal
  const shown: string[] = []
  const show = (text: string): void => void shown.push(text.trimEnd())
  let values: Understood['values'] = {}
  const program = programOf({
    version,
    show,
    columns: out.columns ?? USUAL_HELP_COLUMNS,
    act: (understood) => {
      values = understood.values
      return act(understood, terminal)
    },
  })
  try {
    await program.parseAsync(argv.length === 0 ? ['help'] : argv, { from: 'user' })
  } catch (problem) {
    if (!isShown(problem)) return (await import('./report.ts')).report(problem, err, values)
  }
  if (shown.length > 0) writeHelp(out, shown.join('\n'))
  return EXIT.ok
}

const act = async ({ command, values, positionals }: Understood, terminal: Terminal): Promise<void> => {
  const { out, err: notes, environment, version, input = async () => '' } = terminal
  const { interruption = () => new AbortController().signal } = terminal
  const run = await command.load()
  const ask = terminal.ask === undefined ? {} : { ask: terminal.ask }
  await run({ values, positionals, environment, version, out, notes, input, interruption, ...ask })
}
