import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { WorktreeSettings } from '../../domain/conversation/worktree.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { type KnownNames, type NestedNames, unknownNames } from '../../domain/kernel/known-names.ts'
import type { FanOutLimits } from '../../domain/thread/fan-out.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { CastRunRequest } from './cast.ts'
import type { RecoverRequest } from './recover/recovery.ts'
import type { RunRequest, RunSettings } from './run-request.ts'
import type { WorkRequest } from './worker/worker.ts'

const HOOK_NAMES: KnownNames<HookSettings> = {
  moment: true,
  name: true,
  onEvents: true,
  when: true,
  shouldContinueOnError: true,
  timeoutMs: true,
  type: true,
  command: true,
  url: true,
  method: true,
  headers: true,
  secret: true,
  channelId: true,
  botTokenEnv: true,
  run: true,
}

/** The names of a budget. */
export const BUDGET_NAMES: KnownNames<RestartBudget> = {
  maxRestarts: true,
  deadlineMs: true,
  maxCostUsd: true,
  maxTakeovers: true,
  whenExhausted: true,
}

const WORKSPACE_NAMES: KnownNames<Workspace> = {
  workingDirectory: true,
  worktreePath: true,
  branch: true,
  baseBranch: true,
}

/** The names of the settings of runs. */
export const RUN_SETTINGS_NAMES: KnownNames<RunSettings> = {
  hooks: HOOK_NAMES,
  template: true,
  continuation: true,
  personWordsTokens: true,
  softLanding: true,
  lookBack: true,
  checkpointTimeoutMs: true,
  idleTimeoutMs: true,
  sessionMode: true,
  sessionTimeoutMs: true,
  maxTurns: true,
  allowUnpriced: true,
  fanOut: { maxDepth: true, maxOpen: true, maxThreads: true } satisfies KnownNames<FanOutLimits>,
  workspace: WORKSPACE_NAMES,
  worktree: { dir: true, branchPattern: true } satisfies KnownNames<WorktreeSettings>,
  leaseMs: true,
}

const RUN_NAMES: KnownNames<RunRequest> & KnownNames<CastRunRequest> = {
  ...RUN_SETTINGS_NAMES,
  runtime: true,
  prompt: true,
  agent: true,
  conversation: true,
  conversationId: true,
  policy: true,
  milestones: true,
  contextLimit: true,
  model: true,
  resume: true,
  budget: BUDGET_NAMES,
  subject: true,
  signal: true,
  agents: true,
  start: true,
}

const WORK_NAMES: KnownNames<WorkRequest> = {
  agents: true,
  concurrency: true,
  signal: true,
  drainMs: true,
  cancel: true,
  run: RUN_SETTINGS_NAMES,
  pollMs: { least: true, most: true },
  maxClaims: true,
  onEvent: true,
  onWaiting: true,
}

const RECOVER_NAMES: KnownNames<RecoverRequest> = {
  runtimes: true,
  agents: true,
  leaveOthers: true,
  run: { ...RUN_SETTINGS_NAMES, budget: BUDGET_NAMES },
  wait: true,
  onWaiting: true,
  atOnce: true,
  onEvent: true,
  signal: true,
  stop: true,
}

/** Refuses a request with unknown names: a misspelt setting would have no effect. @throws RefusedError */
const mustKnow =
  <Request>(names: NestedNames) =>
  (request: Request): void => {
    if (typeof request !== 'object' || request === null)
      throw new RefusedError({
        code: 'input.invalid',
        fields: [{ field: 'request', problem: `it must be an object, with some of ${Object.keys(names).join(', ')}` }],
      })
    const unknown = unknownNames(request, names).map(({ path, advice }) => ({
      field: path,
      problem: `it is not known here. ${advice.replace(/\.$/, '')}`,
    }))
    if (unknown.length > 0) throw new RefusedError({ code: 'input.invalid', fields: unknown })
  }

/** Refuses a run request with unknown names. */
export const mustKnowRun = mustKnow<RunRequest | CastRunRequest>(RUN_NAMES)

/** Refuses a request of a worker with unknown names. */
export const mustKnowWork = mustKnow<WorkRequest>(WORK_NAMES)

/** Refuses a recovery request with unknown names. */
export const mustKnowRecovery = mustKnow<RecoverRequest>(RECOVER_NAMES)
