import type { ConversationId } from '../kernel/ids.ts'

/** The sentence that offers a thread handoff to a person whose window fills up. */
export const threadOffer = (conversationId: ConversationId, milestone: string): string =>
  `The window has reached the ${milestone} milestone. To continue in a new thread that takes along a short summary, ` +
  `type: baton thread handoff --from ${conversationId}`
