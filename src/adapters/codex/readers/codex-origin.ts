import type { MessageOrigin } from '../../../domain/turn/message.ts'
import { isOnlyTags } from '../../../domain/turn/only-tags.ts'

/** Texts of Codex itself in the user's place: where it runs, standing instructions, notices, a summary. */
const TAGS =
  'environment_context|user_instructions|permissions instructions|collaboration_mode|skill|turn_aborted|user_shell_command|subagent_notification'
const INSTRUCTIONS = /^\s*# AGENTS\.md instructions(?: for [^\n]+)?\n\s*<INSTRUCTIONS>[\s\S]*<\/INSTRUCTIONS>\s*$/
const SUMMARY = /^\s*Another language model started to solve this problem and produced a summary/

/** Where a text comes from that a rollout gives to the user; nothing when it does not say. Codex marks nothing as typed. */
export const codexOriginIn = (text: string): MessageOrigin | undefined => (isByCodex(text) ? 'runtime' : undefined)

/** Whether a text is one of Codex itself. */
export const isByCodex = (text: string): boolean =>
  isOnlyTags(text, TAGS) || INSTRUCTIONS.test(text) || SUMMARY.test(text)
