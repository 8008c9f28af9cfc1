import type { ContextMoves } from './moves.ts'

/** What is said of windows. A report that says nothing new is not kept, so no answer promises that it was. */
export const CONTEXT_MOVES: ContextMoves = {
  report: {
    weight: 5,
    plan: async (world) => {
      const { chance } = world
      const held = world.held()
      const reading = {
        state: 'metered' as const,
        promptTokens: chance.below(190_000),
        outputTokens: chance.below(900),
      }
      const report = chance.happens(0.8)
        ? { type: 'sample' as const, reading }
        : { type: 'compaction' as const, trigger: 'auto' as const, preTokens: chance.below(190_000) }
      return held && { session: held.session.id, holder: held.holder, report }
    },
    keeps: () => false,
  },
  watch: {
    weight: 2,
    plan: async (world) => {
      const held = world.held()
      const settings = { contextLimit: 100_000 + world.chance.below(100_000), isEnabled: world.chance.happens(0.9) }
      return held && { session: held.session.id, holder: held.holder, settings }
    },
    keeps: () => false,
  },
  send: {
    weight: 2,
    plan: async (world, mark) => {
      const held = world.held()
      return held && { session: held.session.id, text: `Heard #${mark}` }
    },
  },
}
