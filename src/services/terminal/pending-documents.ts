import { decideHold } from '../../domain/handoff/initiate-handoff.ts'
import { counted } from '../../domain/kernel/counted.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { type CommandId, type HolderToken, handoffId } from '../../domain/kernel/ids.ts'
import { later } from '../../domain/kernel/instant.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import { isTerminal } from '../../domain/session/agent-session.ts'
import {
  type DocumentCommand,
  type DocumentRefusal,
  decideDocument,
  evolveDocument,
} from '../../domain/terminal/document-lifecycle.ts'
import { isExpired, type LeftDocument } from '../../domain/terminal/left-document.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { carriedText, recordedWords } from './carried-text.ts'
import type { FollowedSession } from './followed-session.ts'
import { SerialQueue } from './serial-queue.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalRefusal } from './terminal-refusal.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

const DAY_MS = 86_400_000
/** How long a document waits. */
const WAITS_MS = 7 * DAY_MS

const LEFT_LATER = 'A document for the next session was left after this one had ended.'

/** Whether a session of a terminal is over, and no handoff has passed its conversation on. */
const hasEnded = ({ session: { state }, tracking }: FollowedSession): boolean =>
  tracking.holder !== undefined && (state === 'completed' || state === 'failed')

/** A handoff that an agent asks for itself. */
export interface HandoffAsked {
  readonly document?: string
  readonly reason?: string
  /** Who is to take over; the same agent in a fresh window unless named. */
  readonly targetAgent?: string
  readonly commandId?: CommandId
}

/** A document that waits now, and whether another one was taken away for it. */
export interface LeaveOutcome {
  readonly pending: PendingDocument
  readonly isReplacing: boolean
}

/** A document of the files, and where it is in its life. */
export type StoredDocument = LeftDocument<PendingDocument>

/** The reason why a document is as it was; it is gone when its file was taken away meanwhile. */
type ChangeRefusal = DocumentRefusal | { readonly code: 'document.gone' }

/**
 * Documents that agents leave for the next session of their workspace. A workspace has one at a time. The domain decides
 * what may happen to one (`decideDocument`); here it is read, written and ended with its session.
 */
export class PendingDocuments {
  readonly #deps: TerminalDeps
  readonly #sessions: TerminalSessions
  readonly #workspaces = new SerialQueue()

  constructor(deps: TerminalDeps, sessions: TerminalSessions) {
    this.#deps = deps
    this.#sessions = sessions
  }

  /** Does something about the document of a workspace while nothing else happens to it here. */
  inWorkspace<T>(workspace: string, work: () => Promise<T>): Promise<T> {
    return this.#workspaces.run(workspace, work)
  }

  /**
   * Leaves a document. Nothing else happens: the session works on, and nobody waits for anything. For one that has ended,
   * the next session of its conversation is begun, which has no terminal and waits to be taken over.
   */
  async leave(at: FollowedSession, request: HandoffAsked): Promise<Result<LeaveOutcome, TerminalRefusal>> {
    const { document } = request
    if (document === undefined || document.trim() === '')
      return err({ code: 'input.invalid', fields: [{ field: 'document', problem: 'there is nothing in it' }] })
    const isOver = hasEnded(at)
    const refusal = this.#obstacleTo(at, isOver)
    if (refusal !== undefined) return err(refusal)
    const workspace = this.#workspaceOf(at)
    if (workspace === undefined) return err({ code: 'workspace.unknown', id: at.session.id })
    const begun = isOver ? await this.#beginAgain(at, request) : ok(undefined)
    if (!begun.ok) return begun
    return this.inWorkspace(workspace, async () => ok(await this.#leave(at, { ...request, document, workspace })))
  }

  /** The document that waits in a workspace. */
  async waitingIn(workspace: string): Promise<StoredDocument | undefined> {
    const document = await this.#deps.pending.readPending(workspace)
    return document && { status: 'pending', document }
  }

  /** A document that waits in a workspace, or that a candidate has taken. */
  async find({ id, workspace }: Pick<PendingDocument, 'id' | 'workspace'>): Promise<StoredDocument | undefined> {
    const waiting = await this.waitingIn(workspace)
    if (waiting?.document.id === id) return waiting
    const taken = (await this.#deps.pending.listTaken()).find(({ pending }) => pending.id === id)
    return taken && { status: 'taken', document: taken.pending, by: taken.by }
  }

  /** Decides a command on a document, and writes what happens. One that waits changes only {@link inWorkspace}. */
  async change(left: StoredDocument, command: DocumentCommand): Promise<Result<StoredDocument, ChangeRefusal>> {
    const decided = decideDocument(left, command)
    if (!decided.ok) return decided
    const changed = evolveDocument(left, decided.value)
    return (await this.#write(left, changed)) ? ok(changed) : err({ code: 'document.gone' })
  }

  /** The document that a session has left, as long as it waits and its time is not over. */
  async of({ tracking }: Pick<FollowedSession, 'tracking'>): Promise<PendingDocument | undefined> {
    const document = tracking.pending && (await this.#deps.pending.readPending(tracking.pending.workspace))
    const isWaiting = document !== undefined && document.id === tracking.pending?.id
    return isWaiting && !isExpired(document, this.#deps.clock.now()) ? document : undefined
  }

  /** Whether a session must not end yet: its document waits, or is being taken up. */
  async isWaiting({ tracking }: Pick<FollowedSession, 'tracking'>): Promise<boolean> {
    const left = tracking.pending && (await this.find(tracking.pending))
    if (left === undefined) return false
    return left.status === 'taken' || !isExpired(left.document, this.#deps.clock.now())
  }

  /** Makes the text of a waiting document anew: the person has said more since, and the agent has done more. */
  async refresh(at: FollowedSession): Promise<void> {
    const { pending } = at.tracking
    if (pending === undefined) return
    await this.inWorkspace(pending.workspace, async () => {
      const document = await this.of(at)
      if (document === undefined) return
      const text = await this.#textOf(at, document)
      await this.change({ status: 'pending', document }, { type: 'refresh', text, now: this.#deps.clock.now() })
    })
  }

  /** Takes a document back. Its session ends, if its terminal has. */
  async withdraw(at: FollowedSession): Promise<Result<PendingDocument, TerminalRefusal>> {
    const none = err({ code: 'document.not_pending' as const, id: at.session.id })
    if (at.tracking.pending === undefined) return none
    const withdrawn = await this.inWorkspace(at.tracking.pending.workspace, async () => {
      const document = await this.of(at)
      const command = { type: 'close' as const, because: 'withdrawn' as const, now: this.#deps.clock.now() }
      return document && this.change({ status: 'pending', document }, command)
    })
    if (withdrawn?.ok !== true) return none
    await this.release(at, withdrawn.value)
    return ok(withdrawn.value.document)
  }

  /**
   * Ends the wait of a session whose document is over, and the session with it where its terminal has ended. A closed
   * document is forgotten then; one that was taken belongs to its candidate.
   */
  async release(at: FollowedSession, over: StoredDocument): Promise<void> {
    const { document } = over
    const { holder, pending, hasEnded } = at.tracking
    if (pending?.id === document.id) {
      at.keep({ pending: undefined, hasEnded: undefined })
      if (hasEnded === true && holder !== undefined && !isTerminal(at.session)) await this.#end(at, holder, document)
    }
    if (over.status === 'closed') await this.change(over, { type: 'forget' })
  }

  /** Whether it could be written: a document that waits no longer is moved nowhere. */
  async #write(before: StoredDocument, after: StoredDocument): Promise<boolean> {
    const { pending: files } = this.#deps
    const { document } = after
    if (after.status === 'taken' && before.status === 'pending') return files.takePending(document, after.by)
    if (after.status === 'closed') return files.closePending(document)
    if (after.status === 'pending') await files.writePending(document)
    if (after.status === 'forgotten' && before.status === 'taken')
      await files.forgetTaken({ pending: document, by: before.by })
    if (after.status === 'forgotten' && before.status === 'closed') await files.forgetClosed(document)
    return true
  }

  /**
   * Ends a session whose terminal has ended. One that a handoff holds is left to that handoff. One whose document waits is
   * ended when that is over: its successor takes the conversation from it.
   */
  async endSession(at: FollowedSession, commandId?: CommandId): Promise<void> {
    const { handoffs, sha256 } = this.#deps
    const { holder } = at.tracking
    if (holder === undefined || isTerminal(at.session)) return
    if (await this.isWaiting(at)) return at.keep({ hasEnded: true })
    const named = commandId === undefined ? {} : { commandId: derivedCommand(sha256, commandId, 'end') }
    const ended = await handoffs.completeSession({ session: at.session.id, holder, ...named })
    if (ended.ok) at.update(ended.value)
  }

  async #end(at: FollowedSession, holder: HolderToken, { id }: PendingDocument): Promise<void> {
    const commandId = derivedCommand(this.#deps.sha256, id, 'end')
    const ended = await this.#deps.handoffs.completeSession({ session: at.session.id, holder, commandId })
    if (ended.ok) at.update(ended.value)
  }

  /** The turn that leads to a handoff is the leaving of the document: its agent is not there to take another. */
  async #beginAgain(at: FollowedSession, { commandId }: HandoffAsked): Promise<Result<undefined, TerminalRefusal>> {
    const { handoffs, ids, sha256 } = this.#deps
    await this.#sessions.workOn(at)
    const { holder } = at.tracking
    if (holder === undefined || isTerminal(at.session))
      return err({ code: 'session.superseded', sessionId: at.session.id })
    const messages = [{ role: 'user' as const, origin: 'batonpass' as const, text: LEFT_LATER }]
    const named = derivedCommand(sha256, commandId ?? ids.next(), 'left later')
    const recorded = await handoffs.recordTurn({ session: at.session.id, holder, messages, commandId: named })
    if (!recorded.ok) return recorded
    at.update(recorded.value)
    at.keep({ hasEnded: true })
    return ok(undefined)
  }

  #obstacleTo({ session, tracking }: FollowedSession, isOver: boolean): TerminalRefusal | undefined {
    if (isOver) return session.progress.turns === 0 ? { code: 'session.no_turns', sessionId: session.id } : undefined
    if (tracking.holder === undefined) return { code: 'session.superseded', sessionId: session.id }
    const wanted = { handoffId: handoffId(this.#deps.ids.next()), at: this.#deps.clock.now() }
    const held = decideHold(session, wanted)
    if (!held.ok) return held.error
    return session.progress.turns === 0 ? { code: 'session.no_turns', sessionId: session.id } : undefined
  }

  #workspaceOf({ tracking: { cwd } }: FollowedSession): string | undefined {
    return cwd === undefined ? undefined : this.#deps.pending.workspaceOf(cwd)
  }

  async #leave(
    at: FollowedSession,
    {
      document,
      workspace,
      reason,
      commandId,
    }: HandoffAsked & { readonly document: string; readonly workspace: string },
  ): Promise<LeaveOutcome> {
    const { clock, ids } = this.#deps
    const before = await this.waitingIn(workspace)
    if (before !== undefined && before.document.id === commandId)
      return { pending: before.document, isReplacing: false }
    const { session, runtime, providerSessionId } = at
    const { id: sessionId, conversationId, agentName } = session
    const id = commandId ?? ids.next()
    const writtenAt = clock.now()
    const about = { v: 1 as const, id, workspace, runtime, providerSessionId, sessionId, conversationId, agentName }
    const path = await this.#deps.files.writeDocument(id, document)
    const times = { writtenAt, expiresAt: later(writtenAt, WAITS_MS), turns: session.progress.turns }
    const bare = defined({ ...about, document, reason, path, ...times })
    const pending = { ...bare, text: await this.#textOf(at, bare) }
    // Whose document it was is released by the next sweep, outside of this session's turn.
    if (before !== undefined) await this.change(before, { type: 'close', because: 'replaced', now: writtenAt })
    await this.#deps.pending.writePending(pending)
    at.keep({ pending: { id, workspace }, lastHandoffPath: path })
    return { pending, isReplacing: before !== undefined && !isExpired(before.document, clock.now()) }
  }

  async #textOf({ session }: FollowedSession, pending: Omit<PendingDocument, 'text'>): Promise<string> {
    const { document, path, agentName, sessionId, writtenAt, turns } = pending
    const conversation = await this.#deps.store.conversations.find(pending.conversationId)
    const words = conversation && (await recordedWords(this.#deps, conversation, { session, document }))
    const more = session.id === sessionId ? session.progress.turns - turns : 0
    const since = more > 0 ? ` It worked on after that, for ${counted(more, 'more turn')}.` : ''
    const opening = `You continue work that an earlier session began in this workspace (agent ${inQuotes(agentName)}, session ${sessionId}), in a fresh context window.`
    const origin = `That session left the document below at ${writtenAt}, for you.${since}`
    const shown = words ?? { chosen: { shown: [], leftOut: 0 } }
    const nonce = this.#deps.ids.next()
    return carriedText({ opening, document: { text: document, origin, path }, words: shown, nonce }) ?? opening
  }
}
