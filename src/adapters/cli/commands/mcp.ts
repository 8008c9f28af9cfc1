import { answerAgent } from '../../../asking.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { PROVIDER_SESSION, TERMINAL_RUNTIMES } from '../../../ports/terminal-files.ts'
import type { Run } from '../command.ts'
import { parsedFlag } from '../history-args.ts'
import { lineLogger } from '../line-logger.ts'
import { placeToServe } from '../store-options.ts'

/** Answers an agent over MCP until it closes standard input. */
export const mcpCommand: Run = async (invocation) => {
  const { values, notes, environment, version = '' } = invocation
  const session = parsedFlag(invocation, 'session', sessionName)
  const runtime = parsedFlag(invocation, 'runtime', runtimeName)
  // As for a hook: a variable that names a database belongs to the project the agent works on.
  const { folder, store } = placeToServe(invocation, { isByHook: true })
  const flag = (name: string): string | undefined => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  await answerAgent({
    ...defined({ session, runtime }),
    folder,
    store: { ...store, mustExist: true },
    serviceFlags: { 'database-file': flag('database-file'), schema: flag('schema') },
    isAllAllowed: values.all === true,
    environment,
    workingFolder: environment.CLAUDE_PROJECT_DIR ?? process.cwd(),
    version,
    signal: invocation.interruption(),
    logger: lineLogger(notes),
  })
}

const sessionName = (text: string): string => {
  if (!PROVIDER_SESSION.test(text)) throw new TypeError('it must be the id of a session, as "baton status" shows it.')
  return text
}

const runtimeName = (text: string) => {
  const found = TERMINAL_RUNTIMES.find((name) => name === text)
  if (found === undefined) throw new TypeError(`it must be one of ${TERMINAL_RUNTIMES.join(', ')}.`)
  return found
}
