import { defined } from '../../../domain/kernel/defined.ts'
import { answerAgent } from '../../../main/mcp-stdio.ts'
import { projectFolderAround, TERMINAL_AGENTS } from '../../../main/runtimes.ts'
import { PROVIDER_SESSION } from '../../../ports/terminal/terminal-files.ts'
import { parsedFlag } from '../choose/flag-values.ts'
import { serviceToUse } from '../choose/store-options.ts'
import type { Run } from '../invocation/invocation.ts'
import { lineLogger } from '../terminal/line-logger.ts'

/** Answers an agent over MCP until it closes standard input. */
export const mcpCommand: Run = async (invocation) => {
  const { values, notes, environment, version = '' } = invocation
  const session = parsedFlag(invocation, 'session', sessionName)
  const runtime = parsedFlag(invocation, 'runtime', runtimeName)
  // As for a hook: the folder of the session's project, wherever the agent has started this.
  const workingFolder = projectFolderAround(environment) ?? process.cwd()
  const { folder, flags, store } = serviceToUse(invocation, workingFolder)
  await answerAgent({
    ...defined({ session, runtime }),
    folder,
    store: { ...store, mustExist: true },
    serviceFlags: flags,
    isAllAllowed: values.all === true,
    environment,
    workingFolder,
    version,
    signal: invocation.interruption(),
    logger: lineLogger(notes),
  })
}

const sessionName = (text: string): string => {
  if (!PROVIDER_SESSION.test(text)) throw new TypeError('it must be the id of a session, as "baton status" shows it.')
  return text
}

const runtimeName = (text: string): string => {
  const names = TERMINAL_AGENTS.map(({ name }) => name)
  if (!names.includes(text)) throw new TypeError(`it must be one of ${names.join(', ')}.`)
  return text
}
