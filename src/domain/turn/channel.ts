import type { MessageOrigin } from './message.ts'

/**
 * The ways in which words of an agent reach us: the live stream of a run, the transcript that its runtime keeps, and a
 * recording that somebody imports.
 */
export type Channel = 'stream' | 'transcript' | 'recording'

/**
 * The origin of a text that a runtime gives to the user. Trust follows the channel, not the shape: whatever an agent can
 * print in the shape of a person's message is of unknown origin. What says of itself that it is the runtime's or a hook's
 * may be believed on every channel, for it counts less and not more. That a person typed it, only the runtime's own
 * transcript can say.
 *
 * @param claimed as the reader has it: `person` where the runtime marks the text as typed
 */
export const originOn = (channel: Channel, claimed: MessageOrigin | undefined): MessageOrigin => {
  if (claimed === 'runtime' || claimed === 'hook') return claimed
  return channel === 'transcript' && claimed === 'person' ? 'person' : 'unknown'
}
