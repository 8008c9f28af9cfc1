import type { Answer } from '../../domain/decision.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { CommandEnd, CommandTelemetry } from '../../ports/system/command-telemetry.ts'
import { measured } from './measured.ts'

/** Shows commands to an observer. Whatever the observer does, the command is carried out once and answers the same. */
export class CommandWatch {
  readonly #telemetry: CommandTelemetry | undefined

  constructor(telemetry: CommandTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  show<A extends Answer>(name: string, work: () => Promise<Result<A, Refusal>>): Promise<Result<A, Refusal>> {
    const telemetry = this.#telemetry
    if (telemetry?.command === undefined) return work()
    let begun: Promise<Result<A, Refusal>> | undefined
    const once = (): Promise<Result<A, Refusal>> => {
      begun ??= work()
      return begun
    }
    try {
      telemetry.command(name, once, endOf).catch(() => undefined)
    } catch {}
    return once()
  }

  count(decision: Parameters<typeof measured>[0]): void {
    if (this.#telemetry?.measure === undefined) return
    try {
      this.#telemetry.measure(measured(decision))
    } catch {}
  }
}

const endOf = (done: Result<Answer, Refusal>): CommandEnd => {
  if (!done.ok) return { outcome: done.error.code }
  const { conversation, session, handoff } = done.value
  const conversationId = conversation?.id ?? session?.conversationId ?? handoff?.conversationId
  return { outcome: 'ok', ...defined({ conversationId, sessionId: session?.id, handoffId: handoff?.id }) }
}
