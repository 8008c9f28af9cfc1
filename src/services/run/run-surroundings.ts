import type { Worktrees } from '../../ports/agent/worktrees.ts'
import type { AgentRunSettings } from './run-request.ts'

/** Parts of a configuration for runs, beside their settings. */
export interface RunSurroundings {
  /** Settings by agent name, unless a run says otherwise. */
  readonly agents?: ReadonlyMap<string, AgentRunSettings>
  /** Makes worktrees for conversations that are to have one. */
  readonly worktrees?: Worktrees
}
