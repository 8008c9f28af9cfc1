import type { Worktrees } from '../../ports/worktrees.ts'
import type { AgentRunSettings } from './run-request.ts'

/** What a configuration brings to runs beside their settings. */
export interface RunSurroundings {
  /** What holds for the agents of these names unless a run says otherwise. */
  readonly agents?: ReadonlyMap<string, AgentRunSettings>
  /** Makes worktrees for conversations that are to have one. */
  readonly worktrees?: Worktrees
}
