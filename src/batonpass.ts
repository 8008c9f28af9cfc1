import { type BatonpassOptions, buildContainer, openStore, TOKENS } from './container.ts'
import { defined } from './domain/defined.ts'
import type { AuditService } from './services/audit-service.ts'
import type { ContextService } from './services/context-service.ts'
import type { HandoffService } from './services/handoff-service.ts'

/** Batonpass, put together and ready. Close it, or leave its `await using` block, when done. */
export interface Batonpass extends AsyncDisposable {
  readonly handoffs: HandoffService
  readonly context: ContextService
  readonly audit: AuditService
  close(): Promise<void>
}

/**
 * Puts Batonpass together, for people who do not want to see a container.
 *
 * Without options it keeps everything in the embedded store in `.batonpass/`, which it makes and migrates itself.
 *
 * @throws StoreFailure when the store cannot be opened
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(conversation.originalTask) // => Fix the flaky test
 * ```
 */
export const createBatonpass = async (options: BatonpassOptions = {}): Promise<Batonpass> => {
  const { clock, ids, redact, monitor, notifier } = options
  const store = await openStore(options)
  const parts = buildContainer(defined({ store, clock, ids, redact, monitor, notifier }))
  const isOurs = options.store === undefined || options.store === 'memory'
  const close = async (): Promise<void> => {
    if (isOurs) await store[Symbol.asyncDispose]()
  }
  const [handoffs, audit] = [parts.resolve(TOKENS.handoffService), parts.resolve(TOKENS.auditService)]
  const context = parts.resolve(TOKENS.contextService)
  return { handoffs, context, audit, close, [Symbol.asyncDispose]: close }
}
