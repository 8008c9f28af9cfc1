import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, UsedStore } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
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
  const naming = new StoreNaming(terminal)
  let values: Understood['values'] = {}
  const program = programOf({
    version,
    show,
    columns: out.columns ?? USUAL_HELP_COLUMNS,
    act: (understood) => {
      values = understood.values
      return act(understood, argv, terminal, naming)
    },
  })
  try {
    await program.parseAsync(argv.length === 0 ? ['help'] : argv, { from: 'user' })
  } catch (problem) {
    if (isShown(problem)) return shownAll(out, shown)
    const { reportProblem } = await import('./report-problem.ts')
    const status = reportProblem(problem, err, values)
    // How a command line is meant has nothing to do with the store.
    if (status !== EXIT.usage) naming.nameAfterFailure()
    return status
  }
  return shownAll(out, shown)
}

const shownAll = (out: Output, shown: readonly string[]): number => {
  if (shown.length > 0) writeHelp(out, shown.join('\n'))
  return EXIT.ok
}

/** Names the store on the side: an unusual one to a person, and any one when something fails. A program that reads is left alone. */
class StoreNaming {
  readonly #terminal: Terminal
  #isNamed = false
  #used: UsedStore | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  use(store: UsedStore): void {
    this.#used = store
    if (!store.isUsual && this.#terminal.out.isTerminal === true) this.#name(store)
  }

  nameAfterFailure(): void {
    if (this.#used !== undefined && !this.#isNamed) this.#name(this.#used)
  }

  #name({ name }: UsedStore): void {
    this.#isNamed = true
    this.#terminal.err.line(`Store: ${name}`)
  }
}

const act = async (
  { command, values, positionals }: Understood,
  argv: readonly string[],
  terminal: Terminal,
  naming: StoreNaming,
): Promise<void> => {
  const { out, err: notes, environment, version, input = async () => '' } = terminal
  const { interruption = () => new AbortController().signal } = terminal
  const [run, { hint }] = await Promise.all([command.load(), import('./hint.ts')])
  const ask = terminal.ask === undefined ? {} : { ask: terminal.ask }
  const onStore = (store: UsedStore): void => naming.use(store)
  const hintIn = (words: string): string => hint(words, values)
  await run({
    hint: hintIn,
    values,
    positionals,
    argv,
    environment,
    version,
    out,
    notes,
    input,
    interruption,
    onStore,
    ...ask,
  })
}
