import type { SourceSession } from '../agent-session.ts'
import { CHECKPOINT_OUTCOMES, type CheckpointFacts } from '../checkpoint-facts.ts'
import { CHECKPOINT_SECTIONS } from '../checkpoint-section.ts'
import { captureWindow } from '../context-snapshot.ts'
import type { Conversation } from '../conversation.ts'
import type { Decided } from '../decision.ts'
import { defined } from '../defined.ts'
import type { HandoffFacts } from '../facts.ts'
import { HANDOFF_FLAGS, type HandoffFlag, type HandoffMetadata } from '../handoff.ts'
import { decideHandoff, evolveHandoff, type HandoffCommand } from '../handoff-lifecycle.ts'
import type { AgentSessionId, HandoffId, HolderToken, SnapshotId } from '../ids.ts'
import { fieldProblems, isCount, totalsProblem } from '../input.ts'
import type { Instant } from '../instant.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import { err, ok } from '../result.ts'
import { findHandoff, type HandoffAccepted, heldGuard } from './settle-handoff.ts'

/** What it takes to keep what the outgoing agent left, or that it left nothing. */
export interface KeepCheckpoint {
  readonly handoffId: HandoffId
  /** The checkpoint; absent when there is none. */
  readonly document?: string
  readonly flags?: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderToken
}

/** What it takes to keep what a successor is to open with. */
export interface PrepareHandoff {
  readonly handoffId: HandoffId
  readonly claimant: string
  readonly continuation: string
  /** The session that will be, so that hooks and runtimes can be told of it before. */
  readonly targetSessionId: AgentSessionId
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderToken
}

/** Keeps what became of asking the outgoing agent, and a picture of the window it wrote from. */
export const keepCheckpoint = (
  facts: HandoffFacts,
  { handoffId, document, flags = [], checkpoint, holder }: KeepCheckpoint,
  { snapshotId, at }: { readonly snapshotId: SnapshotId; readonly at: Instant },
): Decided<HandoffAccepted> => {
  const problem = refuseForAll([...fieldProblems({ document }), ...flagProblems(flags), ...factsProblems(checkpoint)])
  if (problem !== undefined) return err(problem)
  const moved = moveHandoff(
    facts,
    { handoffId, ...defined({ holder }) },
    {
      type: 'checkpoint',
      ...defined({ document }),
      flags,
      checkpoint,
      at,
      now: facts.now,
    },
  )
  if (!moved.ok || document === undefined) return moved
  const { session } = moved.value.answer
  const { conversationId } = session
  const snapshot = captureWindow(session, { id: snapshotId, type: 'checkpoint', at })
  return ok({
    ...moved.value,
    changes: [...moved.value.changes, { type: 'add_snapshot', snapshot }],
    events: [...moved.value.events, { type: 'snapshot.captured', version: 1, conversationId, at, snapshot }],
  })
}

/** Keeps what the successor is to open with, and which session it will be. */
export const prepareHandoff = (
  facts: HandoffFacts,
  { handoffId, claimant, continuation, targetSessionId: sessionId, holder }: PrepareHandoff,
  at: Instant,
): Decided<HandoffAccepted> => {
  const problem = refuseForAll(fieldProblems({ claimant, continuation }))
  if (problem !== undefined) return err(problem)
  const prepared = { sessionId, continuation }
  const target = { handoffId, ...defined({ holder }) }
  return moveHandoff(facts, target, { type: 'prepare', by: claimant, prepared, at, now: facts.now })
}

const moveHandoff = (
  facts: HandoffFacts,
  { handoffId, holder }: Pick<PrepareHandoff, 'handoffId' | 'holder'>,
  command: HandoffCommand,
): Decided<HandoffAccepted> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const decided = decideHandoff(handoff, command)
  if (!decided.ok) return decided
  const after = evolveHandoff(handoff, decided.value)
  return ok({
    changes: [{ type: 'move_handoff', handoff: after, expected: handoff.version }, ...heldGuard(source, holder)],
    events: [decided.value],
    answer: answerOf(after, source, conversation, facts),
  })
}

const answerOf = (
  handoff: HandoffMetadata,
  { session }: SourceSession,
  conversation: Conversation,
  { monitor }: HandoffFacts,
): HandoffAccepted => defined({ handoff, session, conversation, monitor })

const flagProblems = (flags: readonly HandoffFlag[]): readonly Refusal[] =>
  flags
    .filter((flag) => !HANDOFF_FLAGS.includes(flag))
    .map((flag) => ({ code: 'input.invalid', field: 'flags', problem: `"${String(flag)}" is not a known flag` }))

/** Types alone do not stop a plain caller, and what no store reads back must not be kept. */
const factsProblems = (facts: CheckpointFacts): readonly Refusal[] => {
  const { outcome, reason, characters = 0, isCut = false, sections = [], statements, totals } = facts
  const problems: (string | false)[] = [
    !CHECKPOINT_OUTCOMES.includes(outcome) && `"${String(outcome)}" is no outcome of asking for one`,
    reason !== undefined && typeof reason !== 'string' && 'its reason is no text',
    typeof isCut !== 'boolean' && 'isCut is true or false',
    !sections.every((section) => CHECKPOINT_SECTIONS.includes(section)) && 'it names a section that no checkpoint has',
    ![characters, ...countsOf(statements)].every(isCount) && 'characters and statements are whole numbers from 0 up',
  ]
  const used = totals && totalsProblem(totals)
  return [
    ...problems
      .filter((problem) => problem !== false)
      .map((problem) => ({ code: 'input.invalid', field: 'checkpoint', problem }) as const),
    ...(used === undefined ? [] : [used]),
  ]
}

const countsOf = (statements: CheckpointFacts['statements']): readonly number[] =>
  statements === undefined ? [] : [statements.cited, statements.uncited, statements.miscited]
