import type { Conversation } from './conversation.ts'

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/**
 * A number that tells a prompt from another one (FNV-1a, 32 bits), whatever stands around it.
 *
 * It is short on purpose: it is kept where texts are not, and must not let anybody prove what an erased prompt said. Two
 * prompts that happen to share it count as the same one, which costs the second its fresh restarts and nothing else.
 */
export const promptMark = (prompt: string): number => {
  let hash = OFFSET
  for (const byte of new TextEncoder().encode(prompt.trim())) hash = Math.imul(hash ^ byte, PRIME) >>> 0
  return hash
}

/** Whether a prompt is another one than the latest that was asked. Nothing at all is asked when somebody only recovers. */
export const isNewPrompt = (conversation: Conversation, prompt: string): boolean =>
  prompt.trim() !== '' && promptMark(prompt) !== (conversation.asked?.mark ?? promptMark(conversation.originalTask))
