import type { Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'

/** A no of the service itself, beside those of the domain. */
export type TerminalRefusal =
  | Refusal
  | { readonly code: 'session.unknown'; readonly id: string }
  | { readonly code: 'notify.forbidden'; readonly target: string }
  | { readonly code: 'notify.unknown'; readonly target: string }
  | { readonly code: 'workspace.unknown'; readonly id: string }
  | { readonly code: 'document.not_pending'; readonly id: string }

/** A promise of an answer, or of the reason there is none. */
export type TerminalReply<T> = Promise<Result<T, TerminalRefusal>>
