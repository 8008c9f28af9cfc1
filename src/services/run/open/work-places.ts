import type { Conversation, Workspace } from '../../../domain/conversation/conversation.ts'
import { planWorktree, type WorktreeSettings } from '../../../domain/conversation/worktree.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { toHex } from '../../../domain/kernel/digest.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { RunAgents } from '../cast.ts'
import type { RunRequest } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'

/**
 * The place where the work of a run is done: the one in its request, or a worktree for its conversation. A stored
 * conversation keeps its place.
 *
 * @throws RefusedError when a name cannot be a part of a branch
 * @throws WorktreeFailure when the worktree cannot be made
 */
export const placeFor = async (deps: RunnerDeps, request: RunRequest): Promise<Workspace | undefined> => {
  const { conversation: key, agent } = request
  const workspace = request.workspace ?? deps.settings?.workspace
  const settings = request.worktree ?? deps.settings?.worktree
  if (deps.worktrees === undefined || settings === undefined || workspace?.worktreePath !== undefined) return workspace
  const stored = key === undefined ? undefined : await deps.history.conversationByKey(key)
  if (stored !== undefined) {
    await restorePlace(deps, request, stored)
    return stored.workspace
  }
  const job = key ?? `run-${deps.ids.next().slice(-12)}`
  return worktreeAt(deps, settings, { job, agent, workspace })
}

/**
 * The places of the agents that have one of their own. They are made before the first agent is launched: if one cannot
 * be made, none works.
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

/** Makes the worktree of a conversation again if its folder was removed. */
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
