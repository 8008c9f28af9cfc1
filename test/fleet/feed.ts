import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import type { CommandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { mustHold } from '../../src/services/commands/answers.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { retryThroughOutage } from '../../src/services/run/retry-through-outage.ts'
import { type Job, keyOf, taskOf } from './job.ts'

/** A server that is restarted again and again may be away for long. */
const OUTAGE = { outageMs: 600_000 }

/** Hands jobs to the fleet, as an orchestrator would: some at the same time, and each though the server is away. */
export const feed = async (store: Store, jobs: readonly Job[], onFed: () => void): Promise<void> => {
  const handoffs = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  const keep = <T>(command: (named: { readonly commandId: CommandId }) => Promise<T>): Promise<T> =>
    retryThroughOutage(uuidV7Ids, command, OUTAGE)
  const restartBudget = { maxRestarts: 3, whenExhausted: 'stop', maxTakeovers: 1_000 } as const
  const queue = jobs.values()
  const feeder = async (): Promise<void> => {
    for (const job of queue) {
      const about = { originalTask: taskOf(job), externalKey: keyOf(job), restartBudget }
      const { conversation } = unwrap(await keep((named) => handoffs.openConversation({ ...about, ...named })))
      const planner = { conversationId: conversation.id, agentName: 'planner', backend: 'fleet' }
      const working = mustHold(unwrap(await keep((named) => handoffs.startSession({ ...planner, ...named }))))
      const messages = [
        { role: 'user' as const, text: taskOf(job) },
        { role: 'assistant' as const, text: 'Planned.' },
      ]
      const { session } = unwrap(await keep((named) => handoffs.recordTurn({ ...working, messages, ...named })))
      const [targetAgent = ''] = job.chain
      const about2 = { session, holder: working.holder, targetAgent, reason: 'The plan stands.', document: 'The plan.' }
      unwrap(await keep((named) => handoffs.initiateHandoff({ ...about2, ...named })))
      onFed()
    }
  }
  await Promise.all([feeder(), feeder(), feeder()])
}
