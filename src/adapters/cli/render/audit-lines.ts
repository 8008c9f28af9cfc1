import { type AuditVerdict, NOT_COVERED } from '../../../domain/audit/audit-verdict.ts'
import type { AuditEntry, AuditEvent } from '../../../domain/audit-event.ts'
import type { RestartBudget } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { shortId } from '../../../domain/kernel/id-ending.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { totalMessages } from '../../../domain/turn/message-summary.ts'
import { describeMonitorEvent } from './window-facts.ts'

type Event<Type extends AuditEvent['type']> = Extract<AuditEvent, { type: Type }>

/** The context of a line beside its entry: names that earlier entries gave, and the handoff it is about. */
export interface TrailContext {
  /** The agent of each session seen so far. */
  readonly agents: Map<string, string>
  readonly handoff?: HandoffMetadata
}

/** An entry as a line for a terminal: place, time, what happened, who, why. */
export const renderEntry = ({ position, event }: AuditEntry, context: TrailContext): string => {
  if (event.type === 'session.started') context.agents.set(event.session.id, event.session.agentName)
  return `${String(position).padStart(5)}  ${event.at}  ${shown(describe(event, context))}${event.byHand === true ? ' (by hand)' : ''}`
}

/** The handoff an entry is about, if it is about one. */
export const handoffOf = (event: AuditEvent): HandoffMetadata['id'] | undefined => {
  if (event.type === 'handoff.initiated') return event.handoff.id
  return event.type.startsWith('handoff.') && 'handoffId' in event ? event.handoffId : undefined
}

const describe = (event: AuditEvent, context: TrailContext): string => {
  switch (event.type) {
    case 'conversation.opened':
      return opened(event)
    case 'session.started':
      return started(event)
    case 'turn.recorded':
      return turn(event, context)
    case 'handoff.initiated':
      return initiated(event, context)
    case 'handoff.checkpointed':
      return `handoff ${short(event.handoffId)} checkpoint ${event.checkpoint.outcome.replace('_', ' ')}`
    case 'handoff.prepared':
      return `handoff ${short(event.handoffId)} prepared for session ${short(event.prepared.sessionId)}`
    case 'text.erased':
      return `${counted(event.texts.length, 'text')} erased by ${event.by}  ${shortQuote(event.why)}`
    case 'hook.delivered':
      return `hook ${event.hook} (${event.hookType}, ${event.moment}) ${event.ok ? 'ok' : event.errorCode}, ${event.durationMs} ms`
    case 'handoff.accepted':
      return `handoff ${short(event.handoffId)} accepted by ${event.claim.claimant}, until ${event.claim.deadline}`
    case 'handoff.completed': {
      const to = `by session ${short(event.targetSessionId)}${context.handoff ? ` of ${context.handoff.targetAgent}` : ''}`
      const into = event.targetConversationId ? `, in conversation ${short(event.targetConversationId)}` : ''
      return `handoff ${short(event.handoffId)} completed ${to}${into}`
    }
    case 'handoff.claim_renewed':
      return `handoff ${short(event.handoffId)} claim renewed by ${event.claim.claimant} until ${event.claim.deadline}`
    case 'turn.extended':
      return `last turn of ${agent(event.sessionId, context)}: ${counted(event.messages.length, 'message')} added`
    case 'handoff.extract_kept':
      return `handoff ${short(event.handoffId)} extract kept`
    case 'handoff.metadata_set':
      return `handoff ${short(event.handoffId)} metadata set`
    case 'conversation.closed':
    case 'conversation.reopened':
    case 'conversation.metadata_set':
      return `conversation ${short(event.conversationId)} ${event.type.slice('conversation.'.length).replace('_', ' ')}`
    case 'conversation.budget_set':
      return `conversation ${short(event.conversationId)} budget set: ${budgetText(event.restartBudget)}`
    case 'conversation.asked':
      return `conversation ${short(event.conversationId)} asked for something new: restarts count from here`
    case 'handoff.cancelled':
    case 'handoff.failed':
      return `handoff ${short(event.handoffId)} ${event.type.slice('handoff.'.length)}  ${endReason(context.handoff)}`
    case 'snapshot.captured': {
      const { type, messages, sessionId } = event.snapshot
      return `snapshot ${type} of session ${short(sessionId)}: ${counted(totalMessages(messages), 'message')}`
    }
    case 'session.looked_back': {
      const { sessionId, by, found } = event.lookBack
      return `session ${short(sessionId)} of ${agent(sessionId, context)} looked back by ${by}: ${found} found`
    }
    case 'context.milestone_reached':
    case 'context.compacted':
    case 'context.rearmed':
    case 'context.monitor_set':
    case 'context.restart_refused':
      return `window of ${agent(event.sessionId, context)} ${describeMonitorEvent(event)}`
    default: {
      const what = event.type.slice('session.'.length).replace('_', ' ')
      const by = 'handoffId' in event ? ` by handoff ${short(event.handoffId)}` : ''
      return `session ${short(event.sessionId)} of ${agent(event.sessionId, context)} ${what}${by}`
    }
  }
}

/** A budget in a few words, with the limits it has. */
const budgetText = ({ maxRestarts, maxCostUsd, deadlineMs, maxTakeovers, whenExhausted }: RestartBudget): string =>
  [
    counted(maxRestarts, 'restart'),
    ...(maxCostUsd === undefined ? [] : [`$${maxCostUsd}`]),
    ...(deadlineMs === undefined ? [] : [`${deadlineMs} ms`]),
    ...(maxTakeovers === undefined ? [] : [counted(maxTakeovers, 'takeover')]),
    `then ${whenExhausted}`,
  ].join(', ')

const opened = ({ conversation: { id, externalKey, parentId } }: Event<'conversation.opened'>): string => {
  const key = externalKey === undefined ? '' : `, key ${shortQuote(externalKey)}`
  return `conversation ${short(id)} opened${key}${parentId ? `, a thread of ${short(parentId)}` : ''}`
}

const started = ({ session: { id, epoch, agentName, initiatedByHandoff } }: Event<'session.started'>): string => {
  const from = initiatedByHandoff ? `, continuing handoff ${short(initiatedByHandoff)}` : ''
  return `session ${epoch} (${short(id)}) of ${agentName} started${from}`
}

const turn = (
  { sessionId, turn: { number, range, toolCalls } }: Event<'turn.recorded'>,
  context: TrailContext,
): string => {
  const tools = toolCalls.length === 0 ? '' : `  ${toolCalls.map(({ toolName }) => toolName).join(', ')}`
  return `turn ${number} of ${agent(sessionId, context)}: messages ${range.start}–${range.end}${tools}`
}

const initiated = ({ handoff }: Event<'handoff.initiated'>, context: TrailContext): string => {
  const { id, kind, sourceAgent, targetAgent, triggeringToolCalls } = handoff
  const tools = triggeringToolCalls.map(({ toolName }) => toolName).join(', ')
  const why = context.handoff === undefined ? '' : `  ${shortQuote(context.handoff.reason)}`
  const after = tools === '' ? '' : `  after ${tools}`
  return `handoff ${short(id)} (${kind}) from ${sourceAgent} to ${targetAgent} initiated${why}${after}`
}

const endReason = (handoff: HandoffMetadata | undefined): string =>
  handoff !== undefined && 'endReason' in handoff ? shortQuote(handoff.endReason) : ''

const agent = (session: string, { agents }: TrailContext): string => agents.get(session) ?? 'an unknown agent'

const short = shortId

const shortQuote = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return `"${line.length > 80 ? `${line.slice(0, 79)}…` : line}"`
}

/** The words of agents must not steer the terminal. */
const shown = onOneLine

/** How many entries of a log. */
export const countedEntries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`)

/** A verdict as a line for a terminal. */
export const renderVerdict = (verdict: AuditVerdict): string => {
  const { conversationId, entries, texts, setBack } = verdict
  if (verdict.intact) {
    const erased = texts.erased === 0 ? '' : `, ${counted(texts.erased, 'text')} erased on record`
    const back = setBack && `entry ${setBack.position} is dated ${setBack.behindMs} ms before an earlier one`
    const remark = back === undefined ? '' : `, clocks went back: ${back}`
    return `${conversationId}  intact, ${countedEntries(entries)}${erased}${remark}`
  }
  const { class: kind, position, detail } = verdict.problem
  return `${conversationId}  ${kind}${position === undefined ? '' : ` at entry ${position}`}: ${shown(detail)}`
}

/** One line that names everything the verdict does not cover. */
export const renderNotCovered = (): string => `Not covered: ${NOT_COVERED.join('; ')}.`
