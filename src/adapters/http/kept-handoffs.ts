import { defined } from '../../domain/kernel/defined.ts'
import { commandId } from '../../domain/kernel/ids.ts'
import type { TerminalRequests } from '../../services/terminal/terminal-requests.ts'
import { HttpProblem, problemOf } from './problems.ts'
import { checked } from './read-body.ts'
import { keptHandoff } from './schemas.ts'

/** Whether the text of a spooled file is a handoff that was kept, and no event of a hook. */
export const isKeptHandoff = (json: unknown): boolean => typeof json === 'object' && json !== null && 'handoff' in json

/** Takes a handoff that was kept while no service ran. @throws HttpProblem where a rule says no */
export const takeKeptHandoff = async (requests: TerminalRequests, json: unknown): Promise<void> => {
  const { commandId: command, handoff } = checked(keptHandoff, json)
  const { session, working_in, document, reason, target_agent: targetAgent } = handoff
  const id = session ?? (await onlyIn(requests, working_in ?? ''))
  const asked = defined({ document, reason, targetAgent, commandId: commandId(command) })
  const kept = await requests.handoff(id, asked)
  if (!kept.ok) throw problemOf(kept.error)
}

/** The session that works in the workspace of a folder, where it is the only one, or that ended there last. */
const onlyIn = async (requests: TerminalRequests, folder: string): Promise<string> => {
  const [only, another] = await requests.handingIn(folder)
  if (only === undefined || another !== undefined)
    throw new HttpProblem(
      409,
      'session.unknown',
      `${only === undefined ? 'No session works or has worked' : 'Several sessions work'} in the folder of a document that was kept. Name one: baton handoff FILE --session ID.`,
    )
  return only.id
}
