import { randomUUID } from 'node:crypto'
import type { HandoffMetadata } from '../../../src/domain/handoff/handoff.ts'
import { HOOK_MOMENTS } from '../../../src/domain/hooks/hook-settings.ts'
import { agentSessionId, holderToken } from '../../../src/domain/kernel/ids.ts'
import type { HandoffMoves } from './moves.ts'
import type { World } from './world.ts'

/** A handoff, by the copy at hand or by the id alone, with the source's token where this client has it. */
const onHandoff = async (world: World, isPreferred: (handoff: HandoffMetadata) => boolean = () => true) => {
  const handoff = await world.handoff(isPreferred)
  if (handoff === undefined) return undefined
  return {
    handoff: world.chance.happens(0.5) ? handoff : handoff.id,
    ...(world.chance.happens(0.5) && world.tokenFor(handoff.sourceSessionId)),
  }
}

/** A handoff, as the holder of its source: seldom with a token that somebody else made up. */
const asHolderOf = async (world: World, isPreferred: (handoff: HandoffMetadata) => boolean) => {
  const handoff = await world.handoff(
    (candidate) => isPreferred(candidate) && world.tokenFor(candidate.sourceSessionId) !== undefined,
  )
  const token = handoff && (world.tokenFor(handoff.sourceSessionId) ?? { holder: holderToken(randomUUID()) })
  return handoff && token && { handoff: world.chance.happens(0.5) ? handoff : handoff.id, ...token }
}

/** An end of a handoff by hand, in the name of this client. */
const ending = async (world: World, mark: string) => {
  const asked = await onHandoff(world)
  return asked && { ...asked, reason: `Ended #${mark}`, by: world.name }
}

const isOwnClaim =
  ({ name }: World) =>
  (handoff: HandoffMetadata): boolean =>
    handoff.status === 'accepted' && handoff.claim.claimant === name

const isUnclaimed = ({ status, checkpoint }: HandoffMetadata): boolean =>
  status === 'initiated' && checkpoint === undefined

const isReady = ({
  session,
}: {
  readonly session: { readonly state: string; readonly progress: { readonly turns: number } }
}) => session.state === 'active' && session.progress.turns > 0

/** Passing conversations on. */
export const HANDOFF_MOVES: HandoffMoves<
  | 'initiateHandoff'
  | 'restartSession'
  | 'extendTurn'
  | 'keepExtract'
  | 'keepCheckpoint'
  | 'prepareHandoff'
  | 'recordHooks'
  | 'acceptHandoff'
  | 'claimNext'
  | 'renewClaim'
  | 'setHandoffMetadata'
  | 'completeHandoff'
  | 'cancelHandoff'
  | 'failHandoff'
  | 'openThread'
> = {
  initiateHandoff: {
    weight: 8,
    plan: async (world, mark) => {
      const held = world.held(isReady)
      if (held === undefined) return undefined
      const { session, holder, turns } = held
      return {
        session,
        holder,
        targetAgent: world.agent(),
        reason: `Passed on #${mark}`,
        ...(world.chance.happens(0.4) && { document: `Half done #${mark}` }),
        ...(world.chance.happens(0.3) && { kind: 'context_restart' as const }),
        ...(turns !== undefined && world.chance.happens(0.5) && { turns }),
      }
    },
  },
  restartSession: {
    weight: 5,
    plan: async (world, mark) => {
      const held = world.held(isReady)
      return held && { session: held.session, holder: held.holder, reason: `Full #${mark}` }
    },
    // With the budget used up, and `carry_on`, there may be nothing to keep.
    keeps: ({ handoff }) => handoff !== undefined,
  },
  extendTurn: {
    weight: 4,
    plan: async (world, mark) => {
      const asked = await asHolderOf(world, isUnclaimed)
      return asked && { ...asked, messages: [{ role: 'tool' as const, text: `Result #${mark}` }] }
    },
  },
  keepExtract: {
    weight: 1,
    plan: async (world, mark) => {
      const asked = await asHolderOf(world, isUnclaimed)
      return asked && { handoff: asked.handoff, extract: `Unheard #${mark}` }
    },
  },
  keepCheckpoint: {
    weight: 4,
    plan: async (world, mark) => {
      const asked = await asHolderOf(world, isUnclaimed)
      return asked && { ...asked, document: `Notes #${mark}`, checkpoint: { outcome: 'kept' as const } }
    },
  },
  prepareHandoff: {
    weight: 5,
    plan: async (world, mark) => {
      const asked = await asHolderOf(world, isOwnClaim(world))
      // By the mark, not by chance: several stores that are asked the same must be able to answer the same.
      const targetSessionId = agentSessionId(`${mark.slice(0, 14)}8${mark.slice(15)}`)
      const prepared = { continuation: `Continue #${mark}`, targetSessionId }
      return asked && { ...asked, ...prepared, claimant: world.name }
    },
  },
  recordHooks: {
    weight: 2,
    plan: async (world, mark) => {
      const held = world.held()
      const result = { name: `hook-${mark}`, type: 'shell' as const, durationMs: 5, ok: true as const, output: '' }
      const moment = world.chance.one(HOOK_MOMENTS) ?? 'after_run'
      const { conversationId, id: sessionId } = held?.session ?? {}
      return conversationId && sessionId && { conversationId, sessionId, moment, results: [result] }
    },
  },
  acceptHandoff: {
    weight: 5,
    plan: async (world) => {
      const asked = await onHandoff(world)
      return asked && { ...asked, claimant: world.name, claimMs: world.briefMs() }
    },
  },
  claimNext: {
    weight: 6,
    plan: async (world) => ({ targetAgent: world.agent(), claimant: world.name, claimMs: world.briefMs() }),
    keeps: ({ handoff }) => handoff !== undefined,
  },
  renewClaim: {
    weight: 3,
    plan: async (world) => {
      const asked = await onHandoff(world, isOwnClaim(world))
      return asked && { ...asked, claimant: world.name, claimMs: world.briefMs() }
    },
  },
  setHandoffMetadata: {
    weight: 2,
    plan: async (world, mark) => {
      const asked = await onHandoff(world)
      return asked && { handoff: asked.handoff, metadata: { mark } }
    },
  },
  completeHandoff: {
    weight: 8,
    plan: async (world, mark) => {
      const asked = await onHandoff(world, isOwnClaim(world))
      if (asked === undefined) return undefined
      return {
        ...asked,
        claimant: world.name,
        ...(world.chance.happens(0.5) && { continuation: `Continue #${mark}` }),
        ...(world.chance.happens(0.3) && { leaseMs: world.briefMs() }),
      }
    },
  },
  cancelHandoff: { weight: 2, plan: ending },
  failHandoff: { weight: 2, plan: ending },
  openThread: {
    weight: 2,
    plan: async (world, mark) => {
      const held = world.held(({ session }) => session.progress.turns > 0)
      const child = { originalTask: `Aside #${mark}` }
      return (
        held && {
          session: held.session.id,
          holder: held.holder,
          targetAgent: world.agent(),
          reason: `Aside #${mark}`,
          child,
        }
      )
    },
  },
}
