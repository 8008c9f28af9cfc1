import type { HandoffKind, HandoffStatus } from '../../../domain/handoff/handoff.ts'
import type { AgentRuntimeName } from '../../../domain/run/agent-settings.ts'
import type { SessionMode } from '../../../domain/run/session-settings.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { PressurePolicy } from '../../../domain/window/context-monitor.ts'

// Written out here so that help and completion load none of the modules that decide on them. A test compares each list
// with the one that is in force.

const KINDS = ['agent_transfer', 'context_restart', 'thread'] as const satisfies readonly HandoffKind[]

/** A kind in one word, for a narrow column. */
export const kindWord = (kind: HandoffKind): string => kind.replace(/^(agent|context)_/, '')

/** The words that flags take. Kinds are taken as tables show them, and in full. */
export const WORDS = {
  kinds: [...new Set(KINDS.flatMap((kind) => [kindWord(kind), kind]))],
  statuses: ['initiated', 'accepted', 'completed', 'cancelled', 'failed'],
  states: ['active', 'paused', 'handed_off', 'completed', 'failed'],
  runtimes: ['claude-sdk', 'claude', 'codex', 'command'],
  hookRuntimes: ['claude', 'codex'],
  claudeScopes: ['user', 'project', 'local'],
  sessionModes: ['persistent', 'fresh'],
  policies: ['manual', 'advise', 'auto'],
  formats: ['codex-rollout', 'codex-exec', 'claude-status-line', 'claude-code', 'claude-agent-sdk'],
} as const satisfies {
  readonly kinds: readonly string[]
  readonly statuses: readonly HandoffStatus[]
  readonly states: readonly AgentSession['state'][]
  readonly runtimes: readonly AgentRuntimeName[]
  readonly hookRuntimes: readonly string[]
  readonly claudeScopes: readonly string[]
  readonly sessionModes: readonly SessionMode[]
  readonly policies: readonly PressurePolicy[]
  readonly formats: readonly string[]
}

/** The shells there is a completion for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** A shell there is a completion for. */
export type Shell = (typeof SHELLS)[number]
