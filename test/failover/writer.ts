import { openPostgres, type PostgresOptions } from '../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import type { CommandId } from '../../src/domain/kernel/ids.ts'
import { RefusedError, unwrap } from '../../src/domain/unwrap.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { mustHold } from '../../src/services/commands/answers.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { retryThroughOutage } from '../../src/services/run/retry-through-outage.ts'

/** A turn that the store has acknowledged. */
export interface Acknowledged {
  readonly writer: number
  readonly text: string
  /** When the command was given, and when its answer came. */
  readonly began: number
  readonly at: number
}

/** Something else that a writer was told instead: a failure that is not worth trying again, or a refusal. */
export interface Told {
  readonly writer: number
  readonly code: string
  readonly at: number
}

/** Everything that writers have heard. */
export interface Heard {
  readonly acknowledged: Acknowledged[]
  readonly told: Told[]
}

const OUTAGE = { outageMs: 600_000 }
/** So that two processors also have time for the servers and the workers. */
const PAUSE_MS = 30

/** A client that records turn after turn, each tried again under the same command id until it is acknowledged. */
export const write = async (writer: number, options: PostgresOptions, heard: Heard, signal: AbortSignal) => {
  await using store = await openPostgres(options)
  const handoffs = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  const keep = <T>(command: (named: { readonly commandId: CommandId }) => Promise<T>): Promise<T> =>
    retryThroughOutage(uuidV7Ids, command, OUTAGE)
  let turns = 0
  /** Works in one conversation for as long as that is possible. */
  const work = async (): Promise<void> => {
    const { conversation } = unwrap(
      await keep((named) => handoffs.openConversation({ originalTask: 'Write', ...named })),
    )
    const about = { conversationId: conversation.id, agentName: `writer ${writer}`, backend: 'failover' }
    const { holder, ...started } = mustHold(
      unwrap(await keep((named) => handoffs.startSession({ ...about, ...named }))),
    )
    let { session } = started
    while (!signal.aborted) {
      turns += 1
      const text = `Writer ${writer} has come to turn ${turns}.`
      const messages = [
        { role: 'user' as const, text: 'Go on.' },
        { role: 'assistant' as const, text },
      ]
      const began = Date.now()
      const turn = unwrap(await keep((named) => handoffs.recordTurn({ session, holder, messages, ...named })))
      session = turn.session
      heard.acknowledged.push({ writer, text, began, at: Date.now() })
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      heard.told.push({ writer, code: codeOf(error), at: Date.now() })
    }
  }
}

const codeOf = (error: unknown): string => {
  if (error instanceof StoreFailure) return error.code
  if (error instanceof RefusedError) return error.refusal.code
  throw error
}
