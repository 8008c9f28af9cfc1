import type { HandoffKind, HandoffStatus } from '../../../domain/handoff/handoff.ts'
import type { SessionMode } from '../../../domain/run/session-settings.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { PressurePolicy } from '../../../domain/window/context-monitor.ts'
import { FORMATS, RUNTIME_NAMES, TERMINAL_AGENTS } from '../../../main/runtimes.ts'

// What agents have is in their records. The rest is written out here so that help and completion load none of the modules that decide on them. A test compares each list
// with the one that is in force.

const KINDS = ['agent_transfer', 'context_restart', 'thread'] as const satisfies readonly HandoffKind[]

/** A kind in one word, for a narrow column. */
export const kindWord = (kind: HandoffKind): string => kind.replace(/^(agent|context)_/, '')

/** The words that flags take. Kinds are taken as tables show them, and in full. */
export const WORDS = {
  kinds: [...new Set(KINDS.flatMap((kind) => [kindWord(kind), kind]))],
  statuses: ['initiated', 'accepted', 'completed', 'cancelled', 'failed'],
  states: ['active', 'paused', 'handed_off', 'completed', 'failed'],
  runtimes: RUNTIME_NAMES,
  hookRuntimes: TERMINAL_AGENTS.map(({ name }) => name),
  claudeScopes: ['user', 'project', 'local'],
  sessionModes: ['persistent', 'fresh'],
  policies: ['manual', 'advise', 'auto'],
  formats: FORMATS,
} as const satisfies {
  readonly kinds: readonly string[]
  readonly statuses: readonly HandoffStatus[]
  readonly states: readonly AgentSession['state'][]
  readonly runtimes: readonly string[]
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
