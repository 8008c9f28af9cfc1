import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { EXIT } from './invocation/exit-codes.ts'
import { outputsOn } from './terminal/outputs.ts'
import { runCli, type Terminal } from './tree/run-command.ts'

/** Listens only once a command asks for it: the others end at Ctrl-C as programs do. */
const interruption = (): AbortSignal => {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled)
    controller.abort(name === 'SIGINT' ? 'Ctrl-C' : name)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  // A terminal that was closed takes no more output; the command cleans up nevertheless.
  process.stderr.on('error', () => {})
  return controller.signal
}

/** Asks the person at this terminal. The question goes to standard error: results are never mixed with it. */
const askPerson = async (question: string): Promise<string | undefined> => {
  const { createInterface } = await import('node:readline')
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('close', () => resolve(undefined))
    lines.question(question, (answer) => {
      resolve(answer)
      lines.close()
    })
  })
}

const firstLook = async (terminal: Terminal): Promise<number> =>
  (await import('./tree/first-look.ts')).firstLook(terminal)

/** Runs a command line in this process, and answers with the exit status. Without words it shows what happened. */
export const start = (argv: readonly string[], version: string): Promise<number> => {
  const outputs = outputsOn(process.stdout, process.stderr, process.env)
  // Node would print the words of the error as they are, and a stack that tells a person nothing.
  process.on('uncaughtException', (problem) => {
    outputs.err.line(`baton: ${onOneLine(describeThrown(problem))}`)
    process.exit(EXIT.failure)
  })
  const input = async (): Promise<string> => (await import('node:stream/consumers')).text(process.stdin)
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  const ask = isTerminal ? { ask: askPerson } : {}
  const terminal = { ...outputs, version, environment: process.env, input, interruption, ...ask }
  return argv.length > 0 ? runCli(argv, terminal) : firstLook(terminal)
}
