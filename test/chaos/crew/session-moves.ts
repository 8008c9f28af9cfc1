import type { TurnInput } from '../../../src/domain/turn/turn.ts'
import type { HandoffMoves } from './moves.ts'
import type { Held, World } from './world.ts'

/** A turn whose texts and calls nobody else has. */
export const turnWith = ({ chance }: World, mark: string, number = 0): TurnInput => ({
  messages: [
    { role: 'user', text: `Ask #${mark} ${number}` },
    {
      role: 'assistant',
      text: `Answer #${mark} ${number}`,
      toolCalls: Array.from({ length: chance.below(3) }, (_, n) => ({
        callId: `${mark}-${number}-${n}`,
        toolName: 'run',
      })),
    },
  ],
  ...(chance.happens(0.7) && {
    usage: { state: 'metered' as const, promptTokens: chance.below(210_000), outputTokens: chance.below(900) },
  }),
})

/** As its holder, by the copy at hand or by the id alone. */
const asHolder = ({ chance }: World, { session, holder, monitor }: Held) => ({
  session: chance.happens(0.6) ? session : session.id,
  holder,
  ...(monitor !== undefined && chance.happens(0.5) && { monitor }),
})

/** By hand, with or without a token. */
const byHand = async (world: World) => {
  const found = await world.session()
  if (found === undefined) return undefined
  const { session, holder } = found
  const by = holder === undefined ? { byHand: true as const } : { holder }
  return { session: world.chance.happens(0.5) ? session : session.id, ...by }
}

const isActive = ({ session }: Held): boolean => session.state === 'active'

/** Opening conversations, and what is done to sessions. */
export const SESSION_MOVES: HandoffMoves<
  | 'openConversation'
  | 'closeConversation'
  | 'reopenConversation'
  | 'setConversationMetadata'
  | 'setBudget'
  | 'askConversation'
  | 'setSessionMetadata'
  | 'recordLookBack'
  | 'startSession'
  | 'pauseSession'
  | 'resumeSession'
  | 'completeSession'
  | 'failSession'
  | 'takeOverSession'
  | 'attachSession'
  | 'accountSession'
  | 'recordTurn'
  | 'recordTurns'
  | 'captureSnapshot'
> = {
  openConversation: {
    weight: 5,
    plan: async (world, mark) => {
      const { chance } = world
      const parentId = chance.happens(0.1) ? world.conversation() : undefined
      return {
        originalTask: `Task #${mark}`,
        ...(chance.happens(0.5) && { externalKey: world.sharedKey() }),
        ...(parentId !== undefined && { parentId }),
        ...(chance.happens(0.3) && {
          restartBudget: { maxRestarts: chance.below(9), whenExhausted: 'carry_on' as const },
        }),
      }
    },
    // A key that is there already gives the conversation that has it, and nothing is written.
    keeps: (answer, mark) => JSON.stringify(answer).includes(mark),
  },
  startSession: {
    weight: 8,
    plan: async (world, mark) => {
      const { chance } = world
      const conversationId = world.conversation()
      if (conversationId === undefined) return undefined
      return {
        conversationId,
        agentName: world.agent(),
        backend: 'scripted',
        ...(chance.happens(0.5) && { prompt: `Begin #${mark}` }),
        ...(chance.happens(0.3) && { leaseMs: world.briefMs() }),
        monitor: { contextLimit: 200_000, policy: chance.happens(0.3) ? ('auto' as const) : ('advise' as const) },
      }
    },
  },
  closeConversation: {
    weight: 2,
    plan: async (world) => {
      const conversation = world.conversation()
      return conversation && { conversation }
    },
  },
  reopenConversation: {
    weight: 4,
    plan: async (world) => {
      const conversation = world.conversation()
      return conversation && { conversation }
    },
  },
  setConversationMetadata: {
    weight: 2,
    plan: async (world, mark) => {
      const conversation = world.conversation()
      return conversation && { conversation, metadata: { mark } }
    },
  },
  setBudget: {
    weight: 2,
    plan: async (world) => {
      const conversation = world.conversation()
      return (
        conversation && {
          conversation,
          budget: { maxRestarts: world.chance.below(9), maxCostUsd: world.chance.next() },
        }
      )
    },
  },
  askConversation: {
    weight: 2,
    plan: async (world, mark) => {
      const conversation = world.conversation()
      return conversation && { conversation, prompt: `Ask #${mark}` }
    },
  },
  recordLookBack: {
    weight: 3,
    plan: async (world, mark) => {
      const held = world.held()
      return held && { session: held.session.id, by: 'words', text: `Words #${mark}`, found: world.chance.below(20) }
    },
  },
  setSessionMetadata: {
    weight: 2,
    plan: async (world, mark) => {
      const held = world.held()
      return held && { session: held.session.id, holder: held.holder, metadata: { mark } }
    },
  },
  pauseSession: { weight: 4, plan: byHand },
  resumeSession: {
    weight: 7,
    plan: async (world) => {
      const paused = world.held(({ session }) => session.state === 'paused' && session.heldBy === undefined)
      const asked = paused && { session: paused.session.id, holder: paused.holder }
      return asked && { ...asked, ...(world.chance.happens(0.3) && { leaseMs: world.briefMs() }) }
    },
  },
  completeSession: { weight: 1, plan: byHand },
  failSession: {
    weight: 1,
    plan: async (world, mark) => {
      const asked = await byHand(world)
      return asked && { ...asked, reason: `Broken #${mark}` }
    },
  },
  takeOverSession: {
    weight: 5,
    plan: async (world) => {
      const found = await world.session()
      const ifAbandoned = world.chance.happens(0.3) && { ifAbandoned: true as const }
      return (
        found && {
          session: found.session.id,
          ...ifAbandoned,
          ...(world.chance.happens(0.3) && { leaseMs: world.briefMs() }),
        }
      )
    },
  },
  attachSession: {
    weight: 2,
    plan: async (world, mark) => {
      const held = world.held(isActive)
      return held && { ...asHolder(world, held), providerSessionId: `provider-${mark}` }
    },
  },
  accountSession: {
    weight: 3,
    plan: async (world) => {
      const held = world.held()
      const { chance } = world
      const totals = { inputTokens: chance.below(1e6), outputTokens: chance.below(1e5), costUsd: chance.next() }
      return held && { ...asHolder(world, held), totals }
    },
  },
  recordTurn: {
    weight: 25,
    plan: async (world, mark) => {
      const held = world.held(isActive)
      return held && { ...asHolder(world, held), ...turnWith(world, mark) }
    },
  },
  recordTurns: {
    weight: 5,
    plan: async (world, mark) => {
      const held = world.held(isActive)
      const turns = Array.from({ length: 1 + world.chance.below(3) }, (_, n) => turnWith(world, mark, n))
      const [withholdRestart, failLater] = [world.chance.happens(0.3), world.chance.happens(0.3)]
      return held && { ...asHolder(world, held), turns, withholdRestart, failLater }
    },
  },
  captureSnapshot: {
    weight: 2,
    // Anybody may take one: nothing is said about whose hand it is.
    plan: async (world) => {
      const asked = await byHand(world)
      if (asked === undefined) return undefined
      const { byHand: _, ...anyone } = { byHand: undefined, ...asked }
      return anyone
    },
  },
}
