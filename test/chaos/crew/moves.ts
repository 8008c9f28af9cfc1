import type { HandoffService } from '../../../src/services/handoff-service.ts'
import type { HandoffHistory } from '../../../src/services/history/handoff-history.ts'
import type { ContextService } from '../../../src/services/window/context-service.ts'
import { CONTEXT_MOVES } from './context-moves.ts'
import { HANDOFF_MOVES } from './handoff-moves.ts'
import { SESSION_MOVES } from './session-moves.ts'
import type { AnyAnswer, World } from './world.ts'

/** Every command of the handoff service: what it has beside the questions about history. */
export type HandoffCommand = Exclude<keyof HandoffService, 'with'>
/** Every command of the context service. */
export type ContextCommand = Exclude<keyof ContextService, 'status' | 'waiting' | 'signals' | 'acknowledge'>
/** Every command there is. */
export type MoveName = HandoffCommand | ContextCommand

/** What a command takes, but for its id, which the client gives. */
type RequestOf<Service, Name extends keyof Service> = Service[Name] extends (request: infer R) => unknown
  ? Omit<R & object, 'commandId'>
  : never

/** How a client comes to give a command: how often, what it asks, and whether the answer means that something is kept. */
export interface Move<Request> {
  readonly weight: number
  /** `mark` stands in a text of the request wherever it has one, and nowhere else in the store. */
  readonly plan: (world: World, mark: string) => Promise<Request | undefined>
  /** Always, unless said otherwise. */
  readonly keeps?: (answer: AnyAnswer, mark: string) => boolean
}

/** A part of the mix. */
export type HandoffMoves<Name extends HandoffCommand> = { readonly [C in Name]: Move<RequestOf<HandoffService, C>> }
/** The part of the mix that is about windows. */
export type ContextMoves = { readonly [C in ContextCommand]: Move<RequestOf<ContextService, C>> }

/** The whole mix. A new command does not compile until it is in it. */
export const MOVES: HandoffMoves<HandoffCommand> & ContextMoves = {
  ...SESSION_MOVES,
  ...HANDOFF_MOVES,
  ...CONTEXT_MOVES,
}

/** Each command by its name. */
export const MOVE_NAMES = Object.keys(MOVES) as readonly MoveName[]

/** The services that a client asks. */
export interface Services {
  readonly handoffs: HandoffService
  readonly history: HandoffHistory
  readonly context: ContextService
}

/** Asks the service that has this command. */
export const ask = (services: Services, name: MoveName, request: object): Promise<unknown> => {
  const service: object = name in CONTEXT_MOVES ? services.context : services.handoffs
  const command = Reflect.get(service, name) as (request: object) => Promise<unknown>
  return command.call(service, request)
}
