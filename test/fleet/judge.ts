import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { Found, FoundHandoff, FoundSession } from './found.ts'
import { type Job, keyOf } from './job.ts'
import { type ExecutedStep, stepIn } from './step.ts'

/** The verdict over what a fleet has left. */
export interface Verdict {
  readonly completed: number
  /** Handoffs that were not carried out to their end. */
  readonly lost: readonly string[]
  /** What happened twice. */
  readonly doubled: readonly string[]
  /** Claims and turns of somebody who had no right to them. */
  readonly overlaps: readonly string[]
  readonly claims: number
  readonly takeovers: number
  /** Steps that were carried out and are not on record: whoever did them was killed, or had lost the session. */
  readonly unrecorded: number
}

/** Judges what is found, by what was asked for and what the agents wrote down themselves. */
export const judge = (jobs: readonly Job[], found: Found, steps: readonly ExecutedStep[]): Verdict => {
  const completions = found.events.filter(({ type }) => type === 'handoff.completed')
  const recorded = found.answers.flatMap(({ text }) => stepIn(text)?.id ?? [])
  return {
    completed: found.handoffs.filter(({ status }) => status === 'completed').length,
    lost: jobs.flatMap((job) => lostOf(job, found)),
    doubled: [
      ...twice(completions.map((event) => ('handoffId' in event ? event.handoffId : ''))).map(
        (id) => `handoff ${id} was completed twice`,
      ),
      ...twice(found.handoffs.flatMap(({ target_session_id: id }) => id ?? [])).map(
        (id) => `session ${id} continues two handoffs`,
      ),
      ...twice(recorded).map((id) => `step ${id} is on record twice`),
      ...forged(recorded, steps),
      ...jobs.flatMap((job) => tooMany(job, found)),
    ],
    overlaps: [...claimOverlaps(found.events), ...strangeTurns(found)],
    claims: found.events.filter(({ type }) => type === 'handoff.accepted').length,
    takeovers: found.events.filter(({ type }) => type === 'session.taken_over').length,
    unrecorded: steps.length - recorded.length,
  }
}

const twice = (ids: readonly string[]): readonly string[] => {
  const seen = new Set<string>()
  return [...new Set(ids.filter((id) => seen.size === seen.add(id).size))]
}

const of = <Row extends FoundHandoff | FoundSession>(rows: readonly Row[], job: Job): readonly Row[] =>
  rows.filter(({ key }) => key === keyOf(job))

/** Each agent of the chain must have got its handoff, and must have brought its session to an end. */
const lostOf = (job: Job, { handoffs, sessions, answers }: Found): readonly string[] => {
  const [ours, worked] = [of(handoffs, job), of(sessions, job)]
  return job.chain.flatMap((agent, index) => {
    const handoff = ours.find((one) => one.target_agent === agent)
    const session = worked.find(({ id }) => id === handoff?.target_session_id)
    if (handoff?.status !== 'completed' || session?.agent_name !== agent)
      return [`${keyOf(job)}: the handoff to ${agent} is ${handoff?.status ?? 'missing'}`]
    const isLast = index === job.chain.length - 1
    const state = isLast ? 'completed' : 'handed_off'
    const isSaid = answers.some(({ session_id: id, text }) => id === session.id && stepIn(text)?.job === job.number)
    return [
      ...(session.state === state ? [] : [`${keyOf(job)}: the session of ${agent} is ${session.state}, not ${state}`]),
      ...(isSaid ? [] : [`${keyOf(job)}: nothing that ${agent} did is on record`]),
    ]
  })
}

/** A session for each agent of the chain and one for the planner; a handoff for each agent. */
const tooMany = (job: Job, { handoffs, sessions }: Found): readonly string[] => {
  const [ours, worked] = [of(handoffs, job).length, of(sessions, job).length]
  const due = job.chain.length
  return [
    ...(ours > due ? [`${keyOf(job)} has ${ours} handoffs instead of ${due}`] : []),
    ...(worked > due + 1 ? [`${keyOf(job)} has ${worked} sessions instead of ${due + 1}`] : []),
  ]
}

/** Nothing may be on record that no agent did. */
const forged = (recorded: readonly string[], steps: readonly ExecutedStep[]): readonly string[] => {
  const done = new Set(steps.map(({ id }) => id))
  return recorded.filter((id) => !done.has(id)).map((id) => `step ${id} is on record, and nobody has done it`)
}

/** A claim begins only once the one before it is over, and only the last one completes the handoff. */
const claimOverlaps = (events: readonly AuditEvent[]): readonly string[] => {
  const standing = new Map<string, { readonly claimant: string; readonly deadline: string }>()
  return events.flatMap((event) => {
    if (event.type === 'handoff.accepted' || event.type === 'handoff.claim_renewed') {
      const before = standing.get(event.handoffId)
      standing.set(event.handoffId, event.claim)
      const isEarly =
        event.type === 'handoff.accepted' && before !== undefined && before.deadline > event.claim.acceptedAt
      return isEarly ? [`handoff ${event.handoffId} was claimed while ${before.claimant} had it`] : []
    }
    if (event.type !== 'handoff.completed') return []
    const winner = standing.get(event.handoffId)?.claimant
    return winner === event.by ? [] : [`handoff ${event.handoffId} was completed by ${event.by}, and ${winner} had it`]
  })
}

/** Between two changes of the holder, all turns of a session come from one process. */
const strangeTurns = ({ events, answers }: Found): readonly string[] => {
  const by = new Map(answers.map(({ turn_id: turn, text }) => [turn, stepIn(text)?.by]))
  const holders = new Map<string, string>()
  return events.flatMap((event) => {
    if (event.type === 'session.taken_over') holders.delete(event.sessionId)
    if (event.type !== 'turn.recorded') return []
    const actor = by.get(event.turn.id)
    const holder = holders.get(event.sessionId)
    if (actor !== undefined) holders.set(event.sessionId, holder ?? actor)
    const isStrange = actor !== undefined && holder !== undefined && actor !== holder
    return isStrange ? [`session ${event.sessionId} was held by ${holder}, and ${actor} spoke in it`] : []
  })
}
