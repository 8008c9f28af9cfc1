import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { nextState } from '../kernel/state-machine.ts'
import {
  DOCUMENT_TRANSITIONS,
  type DocumentCommandType,
  type DocumentFacts,
  type DocumentStatus,
  isExpired,
  type LeftDocument,
} from './left-document.ts'

/** The reasons for which a document that nobody has taken is closed. */
export type CloseReason = 'replaced' | 'withdrawn' | 'expired'

/** A command on a document. */
export type DocumentCommand =
  | { readonly type: 'refresh'; readonly text: string; readonly now: Instant }
  /** `by` is the candidate, by the name that its runtime has for it. */
  | { readonly type: 'take'; readonly by: string }
  /** `isBegunWith`: whether a candidate has begun with it, and may still take it. */
  | { readonly type: 'close'; readonly because: CloseReason; readonly now: Instant; readonly isBegunWith?: boolean }
  /** A taken one is forgotten by the candidate that has it. */
  | { readonly type: 'forget'; readonly by?: string }

/** Something that happened to a document. */
export type DocumentEvent =
  | { readonly type: 'document.refreshed'; readonly text: string }
  | { readonly type: 'document.taken'; readonly by: string }
  | { readonly type: 'document.closed'; readonly because: CloseReason }
  | { readonly type: 'document.forgotten' }

/** The reason why nothing happened to a document. */
export type DocumentRefusal =
  | {
      readonly code: 'document.illegal_transition'
      readonly from: DocumentStatus
      readonly command: DocumentCommandType
    }
  /** Another candidate has it. */
  | { readonly code: 'document.taken'; readonly by: string }
  /** Its time is over: it is neither made anew nor withdrawn. */
  | { readonly code: 'document.expired'; readonly expiresAt: Instant }
  /** Its time is not over, or a candidate has begun with it: it is not closed for its age. */
  | { readonly code: 'document.still_waits'; readonly expiresAt: Instant }

/** May this command happen now? Answers with what happens, or the reason why it may not. */
export const decideDocument = (
  left: LeftDocument,
  command: DocumentCommand,
): Result<DocumentEvent, DocumentRefusal> => {
  const to = nextState<DocumentStatus, DocumentCommandType>(DOCUMENT_TRANSITIONS, left.status, command.type)
  if (to === undefined) return err({ code: 'document.illegal_transition', from: left.status, command: command.type })
  const obstacle = obstacleTo(left, command)
  return obstacle === undefined ? ok(eventOf(command)) : err(obstacle)
}

const obstacleTo = (left: LeftDocument, command: DocumentCommand): DocumentRefusal | undefined => {
  const { document } = left
  const { expiresAt } = document
  switch (command.type) {
    case 'take':
    case 'forget':
      return left.status === 'taken' && left.by !== command.by ? { code: 'document.taken', by: left.by } : undefined
    case 'refresh':
      return isExpired(document, command.now) ? { code: 'document.expired', expiresAt } : undefined
    case 'close':
      return closeObstacle(document, command)
    default:
      return command satisfies never
  }
}

const closeObstacle = (
  document: DocumentFacts,
  { because, now, isBegunWith = false }: Extract<DocumentCommand, { type: 'close' }>,
): DocumentRefusal | undefined => {
  const { expiresAt } = document
  const isOver = isExpired(document, now)
  if (because === 'withdrawn') return isOver ? { code: 'document.expired', expiresAt } : undefined
  if (because === 'expired') return isOver && !isBegunWith ? undefined : { code: 'document.still_waits', expiresAt }
  return undefined
}

const eventOf = (command: DocumentCommand): DocumentEvent => {
  switch (command.type) {
    case 'refresh':
      return { type: 'document.refreshed', text: command.text }
    case 'take':
      return { type: 'document.taken', by: command.by }
    case 'close':
      return { type: 'document.closed', because: command.because }
    case 'forget':
      return { type: 'document.forgotten' }
    default:
      return command satisfies never
  }
}

/** The document after something happened to it. Never refuses. */
export const evolveDocument = <Document extends DocumentFacts>(
  { document }: LeftDocument<Document>,
  event: DocumentEvent,
): LeftDocument<Document> => {
  switch (event.type) {
    case 'document.refreshed':
      return { status: 'pending', document: { ...document, text: event.text } }
    case 'document.taken':
      return { status: 'taken', document, by: event.by }
    case 'document.closed':
      return { status: 'closed', document }
    case 'document.forgotten':
      return { status: 'forgotten', document }
    default:
      return event satisfies never
  }
}
