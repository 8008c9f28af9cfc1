import { writeSync } from 'node:fs'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import { TERMINAL_HOOKS, type TerminalHook } from '../../ports/terminal/wire.ts'
import { codeOf } from '../files/own-files.ts'
import { forgetProcess, noteProcess } from './agent-process.ts'
import { type Budget, budgetFrom } from './budget.ts'
import { drawLine } from './draw-line.ts'
import { answerEventHook } from './event-hook.ts'
import { type HookArguments, readArguments } from './hook-arguments.ts'
import { isFileName } from './hook-card.ts'
import { HookLog } from './hook-log.ts'
import { type HookPlace, hookPlace } from './hook-place.ts'
import { type InputRead, readInput } from './read-input.ts'
import { isUsable, ServiceClient } from './service-client.ts'

/** The time after which the process ends come what may. */
const LAST_MOMENT_MS = 30

/**
 * Runs one hook of a terminal agent: reads its input, tells the service, and prints what the runtime understands. It never
 * fails and never waits longer than its budget, because a person's session waits for it; the caller exits with 0 after it.
 *
 * @param agents the terminal agents there are
 */
export const runTerminalHook = async (args: readonly string[], agents: readonly TerminalAgent[]): Promise<void> => {
  const { env: environment } = process
  const budget = budgetFrom(environment)
  const hook = readArguments(args, agents)
  if (hook === undefined) return sayWords()
  // A run of ours works this agent and records it; told twice, it would be two conversations.
  if (environment.BATONPASS_RUN !== undefined && hook.event !== 'statusline') return
  let log: HookLog | undefined
  process.on('uncaughtException', (problem) => {
    log?.tell(`failed: ${codeOf(problem)}`)
    process.exit(0)
  })
  setTimeout(() => process.exit(0), budget.left + LAST_MOMENT_MS).unref()
  // The input names the folder that the session works in, and so the store.
  const read = await readInput(process.stdin, budget.forInput)
  const place = hookPlace(hook, read.state === 'read' ? read.input : {}, environment)
  log = new HookLog(place.folder, hook.event, environment.BATONPASS_HOOK_DEBUG === '1')
  try {
    await carryOut(hook, read, { place, folder: place.folder, log, budget, environment })
  } catch (problem) {
    log.tell(`failed: ${codeOf(problem)}`)
  }
  log.debug(budget.describe())
}

interface Surroundings {
  readonly place: HookPlace
  readonly folder: string
  readonly log: HookLog
  readonly budget: Budget
  readonly environment: Readonly<Record<string, string | undefined>>
}

const carryOut = async (hook: HookArguments, read: InputRead, around: Surroundings): Promise<void> => {
  const { place, folder, log, budget, environment } = around
  const { event, flags, problems } = hook
  const isFolder = isUsable(folder, log)
  for (const problem of [...problems, ...place.problems]) if (isFolder) log.tell(problem)
  // Where no store could be chosen, nothing is kept in one that nobody meant.
  const isOurs = isFolder && place.problems.length === 0
  if (read.state === 'unread' && isOurs) log.tell(read.problem)
  const input = read.state === 'read' ? read.input : {}
  const session = isOurs && isFileName(input.session_id) ? input.session_id : undefined
  if (read.state === 'read' && isOurs && session === undefined)
    log.tell('the input names no session that can be a file')
  const service = new ServiceClient({ folder, flags: place.flags, hook, log, environment })
  const { agent } = hook
  if (event === 'statusline' && agent.noStatusLine !== undefined) return log.tell(agent.noStatusLine)
  if (event === 'statusline') {
    const text = read.state === 'read' ? read.text : Buffer.alloc(0)
    return drawLine({
      input,
      text,
      session,
      folder,
      service,
      log,
      budget,
      flags,
      environment,
      agent,
    })
  }
  // What happens inside a subagent is not about this session's window, and a word printed there would reach the subagent.
  if (session === undefined || input.agent_id !== undefined) return
  noteAgent(event, session, { folder, log, pid: environment[agent.variables.process ?? ''] })
  await answerEventHook({ event, input, session, folder, service, log, budget, environment, agent })
}

/** Keeps in a file which session the agent's process has, for the MCP server that it started. */
const noteAgent = (
  event: TerminalHook,
  session: string,
  around: Pick<Surroundings, 'folder' | 'log'> & { readonly pid: string | undefined },
): void => {
  const { folder, log, pid } = around
  try {
    if (event === 'session-start') noteProcess(folder, session, pid)
    if (event === 'session-end') forgetProcess(folder, session, pid)
  } catch (problem) {
    log.tell(`the process of the agent could not be noted: ${codeOf(problem)}`)
  }
}

/** A mistake in the settings is said where a person who tries it out sees it; an exit status would block the agent. */
const sayWords = (): void => {
  writeSync(2, `baton hook needs the name of a hook: ${TERMINAL_HOOKS.join(', ')}. "baton help hook" says more.\n`)
}
