import type { Workspace } from '../conversation/conversation.ts'
import type { WorktreeSettings } from '../conversation/worktree.ts'
import type { HookSettings } from '../hooks/hook-settings.ts'
import type { Milestone } from '../window/milestone.ts'
import type { SessionSettings } from './session-settings.ts'

/** One agent of a configuration: its runtime, and its settings in force. */
export interface ConfiguredAgent {
  readonly name: string
  /** The name of a runtime. Which there are is known where agents are registered, not here. */
  readonly runtime?: string
  /** The program to run, where it is not the usual one. */
  readonly command?: string
  readonly model?: string
  /** The permission mode, in the words of its runtime; absent means the runtime's own default. */
  readonly permissionMode?: string
  /** Lowest first; its own, or those of the whole configuration where it has none. */
  readonly milestones: readonly Milestone[]
  readonly contextLimit?: number
  /** How often its work may be restarted; absent means as the whole configuration says. */
  readonly maxRestarts?: number
  readonly session: SessionSettings
  /** Where it works, if it has a place of its own; absent means the place of the conversation. */
  readonly place?: { readonly workspace?: Workspace; readonly worktree?: WorktreeSettings }
  /** Its own hooks for the moments that it names, and those of the whole configuration for the others. */
  readonly hooks: readonly HookSettings[]
}
