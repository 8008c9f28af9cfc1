import type { HandoffCommandType, HandoffStatus } from './handoff/handoff.ts'
import type { InputProblem } from './input/check.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId, TurnId } from './kernel/ids.ts'
import type { Instant } from './kernel/instant.ts'
import { err, ok, type Result } from './kernel/result.ts'
import { inQuotes, onOneLine } from './kernel/safe-text.ts'
import type { SessionCommandType, SessionState } from './session/agent-session.ts'

interface Details {
  'input.invalid': { fields: readonly InputProblem[] }
  'conversation.not_found': { conversationId: ConversationId }
  'conversation.session_active': { conversationId: ConversationId; sessionId: AgentSessionId; agentName: string }
  'conversation.handoff_open': { conversationId: ConversationId; handoffId: HandoffId }
  'conversation.closed': { conversationId: ConversationId; since: Instant }
  'conversation.open': { conversationId: ConversationId }
  'conversation.key_taken': { externalKey: string; conversationId: ConversationId }
  'session.not_found': { sessionId: AgentSessionId }
  'session.not_active': { sessionId: AgentSessionId; state: SessionState; heldBy?: HandoffId }
  'session.illegal_transition': { sessionId: AgentSessionId; from: SessionState; command: SessionCommandType }
  'session.held': { sessionId: AgentSessionId; handoffId: HandoffId; command: SessionCommandType }
  'session.superseded': { sessionId: AgentSessionId }
  'session.no_token': { sessionId: AgentSessionId }
  'session.attached': { sessionId: AgentSessionId; providerSessionId: string }
  'session.leased': { sessionId: AgentSessionId; until: Instant }
  'session.not_leased': { sessionId: AgentSessionId }
  'session.no_turns': { sessionId: AgentSessionId }
  'turn.not_found': { conversationId: ConversationId; turnId: TurnId }
  'turn.not_last': { sessionId: AgentSessionId; turnId: TurnId }
  'tool_call.not_found': { conversationId: ConversationId; callIds: readonly string[] }
  'handoff.not_found': { handoffId: HandoffId }
  'handoff.same_agent': { agent: string }
  'handoff.already_open': { sessionId: AgentSessionId; handoffId: HandoffId }
  'handoff.illegal_transition': { handoffId: HandoffId; from: HandoffStatus; command: HandoffCommandType }
  'handoff.checkpointed': { handoffId: HandoffId }
  'handoff.extracted': { handoffId: HandoffId }
  'handoff.already_claimed': { handoffId: HandoffId; claimant: string; deadline: Instant }
  'handoff.not_claimant': {
    handoffId: HandoffId
    claimant: string
    deadline: Instant
    by?: string
    command: HandoffCommandType
  }
  'prompt.fence_not_unique': { field: string; fence: string }
  'command.id_reused': { commandId: CommandId }
  'transaction.conflict': { commandId: CommandId; at: string }
  'budget.unpriced': { model: string; maxCostUsd: number }
  'budget.unmetered': { missing: 'usage' | 'cost'; maxCostUsd: number }
  'thread.not_summarized': { conversationId: ConversationId; cause: string }
  'thread.no_workspace': { conversationId: ConversationId }
  'thread.refinements_spent': { draftId: string; most: number }
  'thread.summary_empty': { draftId: string }
  'thread.block_not_reset': { file: string; cause: string }
  'thread.other_store': { file: string; threadKey: string; expiresAt: Instant }
  'thread.reported': { handoffId: HandoffId }
  'feed.moved': { generation: number; continueFrom: string }
  several: { reasons: readonly Refusal[] }
}

/** The stable code of a refusal. */
export type RefusalCode = keyof Details

/** A rule said no. The code is stable; the details say to whom and why. */
export type Refusal = { [Code in RefusalCode]: { readonly code: Code } & Readonly<Details[Code]> }[RefusalCode]

const UNPRICED = 'allow what has no price (`allowUnpriced`, or `--allow-unpriced` on the command line)'

const SENTENCES: { readonly [Code in RefusalCode]: (refusal: Readonly<Details[Code]>) => string } = {
  'input.invalid': ({ fields }) =>
    fields.map(({ field, problem }) => `The ${field} cannot be used: ${problem}.`).join(' '),
  'conversation.not_found': ({ conversationId }) =>
    `There is no conversation ${conversationId}. Open it first, or check the id.`,
  'conversation.session_active': ({ conversationId, sessionId, agentName }) =>
    `Conversation ${conversationId} already has an active session (${sessionId}, agent ${inQuotes(agentName)}). ` +
    'Hand it off, or end it, before another one starts.',
  'conversation.handoff_open': ({ conversationId, handoffId }) =>
    `Conversation ${conversationId} is being handed off (${handoffId}). Complete or cancel that handoff first.`,
  'conversation.closed': ({ conversationId, since }) =>
    `Conversation ${conversationId} was closed at ${since}, so no session works in it. Reopen it first.`,
  'conversation.open': ({ conversationId }) => `Conversation ${conversationId} is open, so there is nothing to reopen.`,
  'conversation.key_taken': ({ externalKey, conversationId }) =>
    `The key ${inQuotes(externalKey)} already names conversation ${conversationId}. A thread needs another key, or none.`,
  'session.not_found': ({ sessionId }) => `There is no session ${sessionId}. Check the id.`,
  'session.not_active': ({ sessionId, state, heldBy }) =>
    heldBy === undefined
      ? `Session ${sessionId} is ${state}, and only an active session can do this. Look up the active session instead.`
      : `Session ${sessionId} is held by the open handoff ${heldBy}, and only an active session can do this. ` +
        'No session of the conversation is active meanwhile: complete or cancel that handoff first.',
  'session.illegal_transition': ({ sessionId, from, command }) =>
    `Session ${sessionId} is ${from}, and "${command}" is not possible from there.`,
  'session.held': ({ sessionId, handoffId, command }) =>
    `Session ${sessionId} is held by the open handoff ${handoffId}, so "${command}" must wait. ` +
    'Complete or cancel the handoff.',
  'session.superseded': ({ sessionId }) =>
    `Session ${sessionId} has a newer holder. Stop here; to work in it again, take it over.`,
  'session.no_token': ({ sessionId }) =>
    `Session ${sessionId} changes only for its holder, and no token was shown. Pass on the \`holder\` that the session was ` +
    'started or taken over with, or say `byHand: true` if you decide from outside: that is on record.',
  'session.attached': ({ sessionId, providerSessionId }) =>
    `Session ${sessionId} already runs as ${inQuotes(providerSessionId)}. A session has one provider session; hand off for another.`,
  'session.leased': ({ sessionId, until }) =>
    `Session ${sessionId} belongs to a process that may be alive (its lease lasts until ${until}). ` +
    'Wait until that has passed, or take the session over by hand.',
  'session.not_leased': ({ sessionId }) =>
    `Session ${sessionId} has no lease, so it is not known whether its holder has ended. Take it over by hand.`,
  'session.no_turns': ({ sessionId }) =>
    `Session ${sessionId} has no turn yet, and a handoff must name the turn that led to it. Record a turn first.`,
  'turn.not_found': ({ conversationId, turnId }) =>
    `Conversation ${conversationId} has no turn ${turnId}. A handoff can only name a turn of its own conversation.`,
  'turn.not_last': ({ sessionId, turnId }) =>
    `Another session has spoken since turn ${turnId} of session ${sessionId}, so nothing can be added to that turn. ` +
    'Keep what was said with the handoff instead (`keepExtract`), or cancel the handoff and record a turn.',
  'tool_call.not_found': ({ conversationId, callIds }) =>
    `Conversation ${conversationId} has no tool call ${callIds.map((id) => inQuotes(id)).join(', ')}. ` +
    'A handoff can only name recorded tool calls of its own conversation.',
  'handoff.not_found': ({ handoffId }) => `There is no handoff ${handoffId}. Check the id.`,
  'handoff.same_agent': ({ agent }) =>
    `${inQuotes(agent)} already has this conversation. A transfer needs another agent; for a fresh window use a context restart.`,
  'handoff.already_open': ({ sessionId, handoffId }) =>
    `Session ${sessionId} is already being handed off (${handoffId}). Complete or cancel that handoff first.`,
  'handoff.illegal_transition': ({ handoffId, from, command }) =>
    `Handoff ${handoffId} is ${from}, and "${command}" is not possible from there.`,
  'handoff.checkpointed': ({ handoffId }) =>
    `Handoff ${handoffId} already has its checkpoint, which is stored once. Continue with the next step.`,
  'handoff.extracted': ({ handoffId }) => `Handoff ${handoffId} already has an extract, which is stored once.`,
  'handoff.already_claimed': ({ handoffId, claimant, deadline }) =>
    `Handoff ${handoffId} was claimed by ${inQuotes(claimant)}, who has until ${deadline}. Try again after that.`,
  'handoff.not_claimant': ({ handoffId, claimant, deadline, by, command }) =>
    `Handoff ${handoffId} is claimed by ${inQuotes(claimant)} (until ${deadline}), so ` +
    `${by === undefined ? 'an unnamed caller' : inQuotes(by)} may not ${command} it. ` +
    'Claim it after the deadline, or leave it to its claimant.',
  'prompt.fence_not_unique': ({ field, fence }) =>
    `The ${field} has the fence ${inQuotes(fence)}, which is not unique in it, or was changed by redaction. ` +
    'The text inside it could be taken for instructions. Fence the text once, with a fresh nonce.',
  'command.id_reused': ({ commandId }) =>
    `Command ${commandId} was already used for another request. Use a new command id for a new command.`,
  'transaction.conflict': ({ commandId, at }) =>
    `Command ${commandId} met a change that another transaction made at the same time (${at}). Nothing of the command is ` +
    'stored, and your transaction can still be used. Roll back and run it again, or commit without this command.',
  'budget.unpriced': ({ model, maxCostUsd }) =>
    `There is no list price for the model ${inQuotes(model)}, so a cap of ${maxCostUsd} dollars cannot be kept. ` +
    `Choose a model that has one, leave the cap out, or ${UNPRICED}.`,
  'budget.unmetered': ({ missing, maxCostUsd }) =>
    `The agent does not report the ${missing} of its answers, so a cap of ${maxCostUsd} dollars cannot be kept. ` +
    `Use a runtime that reports it, leave the cap out, or ${UNPRICED}.`,
  'thread.not_summarized': ({ conversationId, cause }) =>
    `Conversation ${conversationId} could not be summarised (${onOneLine(cause)}). Nothing was written. ` +
    'Open the thread without a handoff, write the summary yourself, or try again.',
  'thread.no_workspace': ({ conversationId }) =>
    `Conversation ${conversationId} has no workspace on record, so there is no memory file to write to. Name a workspace.`,
  'thread.refinements_spent': ({ draftId, most }) =>
    `Draft ${draftId} was refined ${most} times, which is the most. Accept it, edit it yourself, or reject it.`,
  'thread.summary_empty': ({ draftId }) =>
    `There is nothing in the summary of draft ${draftId}. Write some text, or reject the draft for a thread without a summary.`,
  'thread.block_not_reset': ({ file, cause }) =>
    `The summary of an earlier thread is still in ${onOneLine(file)} and could not be taken out (${onOneLine(cause)}), so nothing was started: ` +
    'another thread would read it. Mend the file, or take the text between the markers out by hand, and run it again.',
  'thread.other_store': ({ file, threadKey, expiresAt }) =>
    `${onOneLine(file)} has a summary for the thread ${inQuotes(threadKey)} until ${expiresAt}, and this store does not know that ` +
    'thread: it was opened in another one. Nothing was started, and the summary is as it was. Name the store that the thread ' +
    'was opened in, or another conversation. "baton thread cleanup --force" in that folder takes the summary out.',
  'thread.reported': ({ handoffId }) =>
    `The outcome of thread ${handoffId} is on record already, and it is reported once. Read it there; leave it out here.`,
  'feed.moved': ({ generation, continueFrom }) =>
    'Since this cursor was given out, the store was restored, set back or taken over by another server, and its feed is in ' +
    `generation ${generation}. Continue from the cursor ${continueFrom}: from there nothing is missing and nothing comes twice. ` +
    'What you have read and the store no longer has, was lost with the other server.',
  several: ({ reasons }) => reasons.map(describeRefusal).join(' '),
}

/**
 * The refusal as a sentence for a person: what happened, why, and what to do. It never throws.
 *
 * @example
 * ```ts
 * const fields = [{ field: 'reason', problem: 'it is blank' }]
 * console.log(describeRefusal({ code: 'input.invalid', fields })) // => The reason cannot be used: it is blank.
 * ```
 */
export const describeRefusal = (refusal: Refusal): string => {
  try {
    return (SENTENCES[refusal.code] as (refusal: Refusal) => string)(refusal)
  } catch {
    // A refusal from another process may be of another version, or damaged on its way.
    return `Refused (${String((refusal as Partial<Refusal> | undefined)?.code)}), without details that can be told.`
  }
}

/**
 * Whether each code says that somebody else has it now. A new code is entered here too, or it does not compile. A code
 * is meant when the one who asked counted on a session or a handoff that another process or person has meanwhile taken,
 * is still working, or has brought further. Asking again cannot help, and nothing is wrong with the request.
 */
const OVERTAKEN: { readonly [Code in Exclude<RefusalCode, 'several'>]: boolean } = {
  'conversation.session_active': true,
  'conversation.handoff_open': true,
  'session.not_active': true,
  'session.illegal_transition': true,
  'session.held': true,
  'session.superseded': true,
  'session.leased': true,
  // It was settled or given back since it was found in the list of leases.
  'session.not_leased': true,
  'handoff.already_open': true,
  'handoff.illegal_transition': true,
  'handoff.already_claimed': true,
  'handoff.not_claimant': true,

  'input.invalid': false,
  'conversation.not_found': false,
  // Nobody has a closed conversation: it waits to be reopened.
  'conversation.closed': false,
  'conversation.open': false,
  'conversation.key_taken': false,
  'session.not_found': false,
  'session.no_token': false,
  'session.attached': false,
  'session.no_turns': false,
  'turn.not_found': false,
  // The session is still the caller's: what it said goes with the handoff instead.
  'turn.not_last': false,
  'tool_call.not_found': false,
  'handoff.not_found': false,
  'handoff.same_agent': false,
  // This step is done, and its claimant takes the next one.
  'handoff.checkpointed': false,
  'handoff.extracted': false,
  'prompt.fence_not_unique': false,
  'command.id_reused': false,
  'transaction.conflict': false,
  'budget.unpriced': false,
  'budget.unmetered': false,
  'thread.not_summarized': false,
  'thread.no_workspace': false,
  'thread.refinements_spent': false,
  'thread.summary_empty': false,
  'thread.block_not_reset': false,
  'thread.other_store': false,
  'thread.reported': false,
  'feed.moved': false,
}

/**
 * Whether a refusal says that somebody else has the session or the handoff now: the process that asked stops there, and
 * leaves it to them. Of several reasons, one is enough.
 */
export const isOvertaken = (refusal: Refusal): boolean =>
  refusal.code === 'several' ? refusal.reasons.some(isOvertaken) : OVERTAKEN[refusal.code]

/** One refusal that lists every reason, or the reason itself when there is only one. */
export const refuseForAll = (reasons: readonly Refusal[]): Refusal | undefined =>
  reasons.length > 1 ? { code: 'several', reasons } : reasons[0]

/** All answers by their names, or one refusal with the reasons of all that were refused. */
export const allOf = <Answers extends object>(
  results: {
    readonly [Name in keyof Answers]: Result<Answers[Name], Refusal>
  },
): Result<Answers, Refusal> => {
  const named = Object.entries<Result<unknown, Refusal>>(results)
  const refused = refuseForAll(named.flatMap(([, result]) => (result.ok ? [] : reasonsOf(result.error))))
  if (refused !== undefined) return err(refused)
  return ok(Object.fromEntries(named.flatMap(([name, result]) => (result.ok ? [[name, result.value]] : []))) as Answers)
}

const reasonsOf = (refusal: Refusal): readonly Refusal[] => (refusal.code === 'several' ? refusal.reasons : [refusal])
