import { totals as totalsCheck } from '../../../domain/input/readings.ts'
import { usable, usableEvent } from '../../../domain/input/window-events.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RefusedCall } from '../../../domain/run/refused-tools.ts'
import { originsOf } from '../../../domain/turn/message.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { RuntimeStep, ThreadAsked } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'

const ROLES: readonly RecordedText['role'][] = ['user', 'assistant', 'tool']

/**
 * Checks the steps of a runtime and drops the parts that are invalid. Anybody may write a runtime or a reader, and a
 * wrong figure or name must not lose the turn that it came with.
 */
export class UsableSteps {
  #nameless = 0

  take<Message>(step: RuntimeStep<Message>): RuntimeStep<Message> {
    const { events, texts, totals, providerSessionId, usedModel, asksThreads, refused, writes, ...rest } = step
    const checked = {
      totals: totals && usable(totalsCheck, totals),
      providerSessionId: textOf(providerSessionId),
      usedModel: textOf(usedModel),
      asksThreads: asksThreads && listOf(asksThreads).filter(isRecord),
      refused: refused && listOf(refused).flatMap(usableRefusal),
      writes: typeof writes === 'number' && Number.isSafeInteger(writes) && writes > 0 ? writes : undefined,
    }
    return { ...rest, ...defined(checked), events: this.#events(events), texts: listOf(texts).flatMap(usableText) }
  }

  #events(events: unknown): readonly WindowEvent[] {
    return listOf(events).flatMap((event) => usableEvent(event, this.#name) ?? [])
  }

  /** A name for a request without one, so that it counts as a separate request. */
  readonly #name = (): string => {
    this.#nameless += 1
    return `nameless ${this.#nameless}`
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isRecord = (value: unknown): value is ThreadAsked => typeof value === 'object' && value !== null

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const usableRefusal = (given: unknown): readonly RefusedCall[] => {
  const { toolName, argument, isWrite, allowedBy } = (given ?? {}) as Partial<RefusedCall>
  const texts = { argument: textOf(argument), allowedBy: textOf(allowedBy) }
  return typeof toolName === 'string' ? [defined({ toolName, isWrite: isWrite === true, ...texts })] : []
}

/** A text with an unknown role is dropped. An invalid origin is dropped alone, and a missing text counts as empty. */
const usableText = (given: unknown): readonly RecordedText[] => {
  const { role, text, origin, id } = (given ?? {}) as Partial<RecordedText>
  if (role === undefined || !ROLES.includes(role)) return []
  const isPossible = origin !== undefined && originsOf(role).includes(origin)
  return [defined({ role, text: textOf(text) ?? '', origin: isPossible ? origin : undefined, id: textOf(id) })]
}
