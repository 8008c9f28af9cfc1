import { defineParameterType } from '@cucumber/cucumber'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { HandoffKind, HandoffStatus } from '../../src/domain/handoff/handoff.ts'
import type { SessionState } from '../../src/domain/session/agent-session.ts'
import type { MessageSummary } from '../../src/domain/turn/message-summary.ts'
import type { TurnInput } from '../../src/domain/turn/turn.ts'
import type { Deed } from './handoffs-under-way.ts'
import { MOMENTS } from './hooks-of-runs.ts'
import { NONSENSE } from './turns.ts'
import type { HandoffWorld } from './world.ts'

const QUOTED = /"([^"]*)"/

/** The parts of a list written as "a, b, c"; an empty text is an empty list. */
export const listed = (text: string, separator = ','): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')

const oneOf = (words: readonly string[]): RegExp => new RegExp(words.join('|'))

const stored = (words: string): string => words.replaceAll(' ', '_')

const STATES: readonly string[] = ['active', 'paused', 'handed off', 'completed', 'failed']
const STATUSES: readonly HandoffStatus[] = ['initiated', 'accepted', 'completed', 'cancelled', 'failed']
const KINDS: readonly string[] = ['agent transfer', 'context restart', 'thread']
const DEEDS: readonly Deed[] = ['claim', 'take', 'cancel', 'give up']

/** An agent or a worker, by the name it is stored under. */
defineParameterType({
  name: 'agent',
  regexp: QUOTED,
  transformer(this: HandoffWorld, name: string): string {
    return this.named(name)
  },
})

/** Several agents, by the names they are stored under. */
defineParameterType({
  name: 'agents',
  regexp: QUOTED,
  transformer(this: HandoffWorld, names: string): readonly string[] {
    return listed(names).map((name) => this.named(name))
  },
})

defineParameterType({ name: 'tools', regexp: QUOTED, transformer: (text: string) => listed(text) })
defineParameterType({ name: 'list', regexp: QUOTED, transformer: (text: string) => listed(text) })
defineParameterType({ name: 'path', regexp: QUOTED, transformer: (text: string) => listed(text, '>') })

defineParameterType({
  name: 'state',
  regexp: oneOf(STATES),
  transformer: (words: string) => stored(words) as SessionState,
})

defineParameterType({ name: 'status', regexp: oneOf(STATUSES), transformer: (word: string) => word as HandoffStatus })

defineParameterType({
  name: 'kind',
  regexp: oneOf(KINDS),
  transformer: (words: string) => stored(words) as HandoffKind,
})

defineParameterType({ name: 'deed', regexp: oneOf(DEEDS), transformer: (words: string) => words as Deed })

/** The steps of a restart, by what is stored with each. */
const STEPS: Readonly<Record<string, AuditEvent['type']>> = {
  'its first turn': 'turn.recorded',
  'the turn that fills the window': 'handoff.initiated',
  'the checkpoint': 'handoff.checkpointed',
  'the claim': 'handoff.accepted',
  'the continuation': 'handoff.prepared',
  'the handoff is completed': 'handoff.completed',
}

defineParameterType({
  name: 'step',
  regexp: oneOf(Object.keys(STEPS)),
  transformer: (words: string) => STEPS[words],
})

/** When a hook is called. */
defineParameterType({
  name: 'moment',
  regexp: oneOf(Object.keys(MOMENTS)),
  transformer: (words: string) => MOMENTS[words],
})

/** A report that makes no sense. */
defineParameterType({
  name: 'report',
  regexp: oneOf(Object.keys(NONSENSE)),
  transformer: (words: string): readonly TurnInput[] => NONSENSE[words] ?? [],
})

/** So many messages of each role. */
defineParameterType({
  name: 'summary',
  regexp: /(\d+) user, (\d+) assistant, (\d+) tool and (\d+) system messages/,
  transformer: (user: string, assistant: string, tool: string, system: string): MessageSummary => ({
    user: Number(user),
    assistant: Number(assistant),
    tool: Number(tool),
    system: Number(system),
  }),
})
