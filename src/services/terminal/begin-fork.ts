import { defined } from '../../domain/kernel/defined.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { FollowedSession } from './followed-session.ts'
import type { SuccessionParts } from './succession.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/**
 * Makes a forked session a branch of the conversation that its source is in. The part of its transcript that is a copy is
 * on record there, and is not recorded again. Undefined where nobody knows its source.
 */
export const beginFork = async (
  { transcripts }: TerminalDeps,
  { sessions, turns, inTurn }: Pick<SuccessionParts, 'sessions' | 'turns' | 'inTurn'>,
  { runtime, providerSessionId, model, cwd, transcriptPath }: Candidate,
): Promise<FollowedSession | undefined> => {
  if (transcriptPath === undefined) return undefined
  for (const { source, copied } of await transcripts.forkOf(runtime, transcriptPath)) {
    if ((await sessions.find(source)) === undefined) continue
    const conversationId = await inTurn(source, async () => {
      const at = await sessions.find(source)
      if (at !== undefined) await turns.take(at, { isAtRest: true })
      if (at !== undefined) await sessions.keep(at)
      return at?.session.conversationId
    })
    const branch = { runtime, providerSessionId, model, cwd, branchOf: conversationId }
    const registered = await sessions.register(defined(branch))
    if (!registered.ok) return undefined
    const at = registered.value
    const known = await turns.countIn({ runtime, transcriptPath }, copied)
    const before = {
      turns: Math.max(known.turns, at.kept.turns),
      boundaries: Math.max(known.boundaries, at.kept.boundaries),
    }
    at.keep(defined({ ...before, transcriptPath, cwd }))
    await sessions.keep(at)
    return at
  }
  return undefined
}
