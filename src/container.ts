import 'reflect-metadata' // tsyringe refuses to load without it
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe'
import { MemoryStore } from './adapters/memory/memory-store.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
import type { Store } from './ports/store.ts'
import type { Clock, IdGenerator } from './ports/system.ts'
import { HandoffService } from './services/handoff-service.ts'

/** What may be chosen when Batonpass is put together; everything has a default. */
export interface BatonpassOptions {
  /** Where everything is kept; in memory unless given. A given store is used and never closed. */
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: IdGenerator
  /** Applied to every text before it is stored, for secrets and personal data. */
  readonly redact?: (text: string) => string
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name)

/**
 * The names under which the parts are registered.
 *
 * @example
 * ```ts
 * const parts = buildContainer()
 * const store = parts.resolve(TOKENS.store)
 * console.log(store === parts.resolve(TOKENS.store)) // => true
 * ```
 */
export const TOKENS = {
  clock: token<Clock>('Clock'),
  ids: token<IdGenerator>('IdGenerator'),
  redact: token<(text: string) => string>('Redact'),
  store: token<Store>('Store'),
  handoffService: token<HandoffService>('HandoffService'),
} as const

/**
 * Puts the parts together. A child container each time, never the global one: several may live side by side.
 *
 * @example
 * ```ts
 * const parts = buildContainer({ redact: (text) => text.replaceAll(/sk-\w+/g, '[key]') })
 * const handoffs = parts.resolve(TOKENS.handoffService)
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Rotate sk-123' }))
 * console.log(conversation.originalTask) // => Rotate [key]
 * ```
 */
export const buildContainer = (options: BatonpassOptions = {}): DependencyContainer => {
  const { store, clock = systemClock, ids = uuidV7Ids, redact = (text: string) => text } = options
  const parts = container.createChildContainer()
  parts.register(TOKENS.clock, { useValue: clock })
  parts.register(TOKENS.ids, { useValue: ids })
  parts.register(TOKENS.redact, { useValue: redact })
  parts.register(TOKENS.store, {
    useFactory: instanceCachingFactory((c) => store ?? new MemoryStore({ clock: c.resolve(TOKENS.clock) })),
  })
  parts.register(TOKENS.handoffService, {
    useFactory: instanceCachingFactory(
      (c) =>
        new HandoffService({
          store: c.resolve(TOKENS.store),
          clock: c.resolve(TOKENS.clock),
          ids: c.resolve(TOKENS.ids),
          redact: c.resolve(TOKENS.redact),
        }),
    ),
  })
  return parts
}
