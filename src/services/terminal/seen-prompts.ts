import { type KnownPrompt, metPrompt, withPrompt } from '../../domain/turn/known-prompts.ts'
import type { MessageInput, TurnInput } from '../../domain/turn/turn.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalDeps } from './terminal-deps.ts'

type Deps = Pick<TerminalDeps, 'readers' | 'sha256' | 'redact'>

/** A prompt that a hook was called with, by the name of that event. */
export interface HookPrompt {
  readonly by: string
  readonly text: string
}

/** A command that says nothing beside its name, and ours for handing over: neither says what the work is. */
const NO_TASK = /^\/(?:[\w:.-]+$|(?:baton:)?handoff\s)/

/** Whether a prompt of a person says what is to be done. */
export const isTask = (prompt: string): boolean => prompt.trim() !== '' && !NO_TASK.test(prompt.trim())

/** Notes prompts that hooks have seen, until the transcript has them. A wrapper of the runtime is no word of a person. */
export const notePrompts = (
  { readers, ...how }: Deps,
  at: Pick<FollowedSession, 'runtime' | 'tracking' | 'keep'>,
  prompts: readonly HookPrompt[],
): void => {
  const reader = readers.transcripts(at.runtime)
  const typed = prompts.filter(({ text }) => reader.isOwnPrompt?.(text) !== true)
  const before = at.tracking.prompts ?? []
  const noted = typed.reduce((all, prompt) => withPrompt(all, prompt, how), before)
  if (noted !== before) at.keep({ prompts: noted })
}

/** A turn of a transcript in which the words that a hook saw are the person's, and the prompts that are left then. */
export const whoseWords = (
  { sha256, redact }: Deps,
  { tracking }: Pick<FollowedSession, 'tracking'>,
  turn: TurnInput,
): { readonly turn: TurnInput; readonly prompts: readonly KnownPrompt[]; readonly unknown: number } => {
  let prompts = tracking.prompts ?? []
  const messages = turn.messages.map((message): MessageInput => {
    if (message.role !== 'user' || message.origin !== 'unknown') return message
    const left = metPrompt(prompts, message.text, { sha256, redact })
    prompts = left ?? prompts
    return left === undefined ? message : { ...message, origin: 'person' }
  })
  return { turn: { ...turn, messages }, prompts, unknown: messages.filter(({ origin }) => origin === 'unknown').length }
}
