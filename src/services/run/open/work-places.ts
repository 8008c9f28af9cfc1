import type { Conversation, Workspace } from '../../../domain/conversation/conversation.ts'
import { planWorktree, type WorktreeSettings } from '../../../domain/conversation/worktree.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { toHex } from '../../../domain/kernel/digest.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { RunAgents } from '../cast.ts'
import type { RunRequest } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'

/**
 * The place where a run's work is done: as it says, or a worktree of its conversation's own. A conversation that is there
 * keeps the place it has.
 *
 * @throws RefusedError when a name cannot be a part of a branch
 * @throws WorktreeFailure when the worktree cannot be made
 */
export const placeFor = async (deps: RunnerDeps, request: RunRequest): Promise<Workspace | undefined> => {
  const { conversation: key, agent } = request
  const workspace = request.workspace ?? deps.settings?.workspace
  const settings = request.worktree ?? deps.settings?.worktree
  if (deps.worktrees === undefined || settings === undefined || workspace?.worktreePath !== undefined) return workspace
  const known = key === undefined ? undefined : await deps.history.conversationByKey(key)
  if (known !== undefined) {
    await restorePlace(deps, request, known)
    return known.workspace
  }
  const job = key ?? `run-${deps.ids.next().slice(-12)}`
  return worktreeAt(deps, settings, { job, agent, workspace })
}

/**
 * The places of the agents that have one for themselves. They are made before anything runs, so that nobody works
 * until all of them can.
 */
export const placesOf = async (
  deps: RunnerDeps,
  agents: Pick<RunAgents, 'names' | 'placeOf'>,
  { id, externalKey: job = id.slice(-12) }: Pick<Conversation, 'id' | 'externalKey'>,
): Promise<ReadonlyMap<string, Workspace>> => {
  const places = new Map<string, Workspace>()
  for (const agent of agents.names) {
    const { workspace, worktree } = agents.placeOf(agent) ?? {}
    const hasOwn = worktree !== undefined && deps.worktrees !== undefined && workspace?.worktreePath === undefined
    const place = hasOwn ? await worktreeAt(deps, worktree, { job, agent, workspace }) : workspace
    if (place !== undefined) places.set(agent, place)
  }
  return places
}

const worktreeAt = async (
  deps: RunnerDeps,
  settings: WorktreeSettings,
  { workspace, ...owner }: { readonly job: string; readonly agent: string; readonly workspace: Workspace | undefined },
): Promise<Workspace | undefined> => {
  const plan = planWorktree(settings, { ...owner, digest: hex(deps), ...defined({ workspace }) })
  if (plan.ok) return deps.worktrees?.place(plan.value)
  throw new RefusedError({ code: 'input.invalid', fields: [{ field: 'worktree', problem: plan.error }] })
}

/** Makes the worktree of a conversation again if somebody has taken its folder away. */
export const restorePlace = async (
  { worktrees, settings }: RunnerDeps,
  request: RunRequest,
  { workspace }: Conversation,
): Promise<void> => {
  const isOurs = (request.worktree ?? settings?.worktree) !== undefined
  if (isOurs && workspace?.worktreePath !== undefined) await worktrees?.restore(workspace)
}

const hex =
  ({ sha256 }: RunnerDeps) =>
  (text: string): string =>
    toHex(sha256(new TextEncoder().encode(text)))
