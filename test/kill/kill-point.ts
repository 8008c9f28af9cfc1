import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { randomFrom } from '../races/jitter.ts'

/** One answer of the agent: what its request sends, and how many tools it calls. */
export interface PlannedTurn {
  readonly promptTokens: number
  readonly tools: number
}

/** A run to be killed, and where. */
export interface Plan {
  /** Names the conversation. */
  readonly key: string
  readonly seed: number
  readonly point: PointName
  /** The how manieth of such points in the run. */
  readonly occurrence: number
  /** The last turn of each window but the last is over the restart milestone. */
  readonly windows: readonly (readonly PlannedTurn[])[]
  /** Whether the runtime takes names for its sessions. */
  readonly takesSessionId: boolean
  readonly canResume: boolean
  /** Whether the runtime says how its session is called before it answers, or with the first answer. */
  readonly isAnnounced: boolean
}

/** Where a runner is killed: around the commit of an event, or inside the runtime. */
export type Point = {
  /** How often it comes in a run. */
  readonly times: (plan: Pick<Plan, 'windows'>) => number
  /** Which of them are meant; all of them unless given. */
  readonly only?: (plan: Pick<Plan, 'windows'>) => number
} & (
  | {
      /** `while`: the commit was sent, and nobody knows what became of it. */
      readonly when: 'before' | 'while' | 'after'
      readonly event: AuditEvent['type']
      readonly is?: (event: AuditEvent) => boolean
    }
  | { readonly when: 'launching' | 'asking' }
)

type Windows = Pick<Plan, 'windows'>

const once = (): number => 1
const everyWindow = ({ windows }: Windows): number => windows.length
const everyRestart = ({ windows }: Windows): number => windows.length - 1
const everyTurn = ({ windows }: Windows): number => windows.flat().length
const isFirstTurn = (event: AuditEvent): boolean => event.type === 'turn.recorded' && event.turn.number === 1

/** Every step of a run with restarts that is stored, and what lies between them. */
export const POINTS = {
  'before the conversation is opened': { when: 'before', event: 'conversation.opened', times: once },
  'the conversation is opened': { when: 'after', event: 'conversation.opened', times: once },
  'the session is started': { when: 'after', event: 'session.started', times: once },
  'launched, and nothing said yet': { when: 'launching', times: everyWindow },
  'launched, and not attached yet': { when: 'before', event: 'session.attached', times: everyWindow },
  'the session is attached': { when: 'after', event: 'session.attached', times: everyWindow },
  'the first turn is recorded': { when: 'after', event: 'turn.recorded', is: isFirstTurn, times: everyWindow },
  'before the turn that crosses': { when: 'before', event: 'handoff.initiated', times: everyRestart },
  'while the turn that crosses is stored': { when: 'while', event: 'handoff.initiated', times: everyRestart },
  'the turn that crosses is recorded': { when: 'after', event: 'handoff.initiated', times: everyRestart },
  'asked for the checkpoint': { when: 'asking', times: everyRestart },
  'before the checkpoint is kept': { when: 'before', event: 'handoff.checkpointed', times: everyRestart },
  'the checkpoint is kept': { when: 'after', event: 'handoff.checkpointed', times: everyRestart },
  'the handoff is claimed': { when: 'after', event: 'handoff.accepted', times: everyRestart },
  'the continuation is kept': { when: 'after', event: 'handoff.prepared', times: everyRestart },
  'before the handoff is completed': { when: 'before', event: 'handoff.completed', times: everyRestart },
  'while the handoff is completed': { when: 'while', event: 'handoff.completed', times: everyRestart },
  'the handoff is completed': { when: 'after', event: 'handoff.completed', times: everyRestart },
  'the totals are accounted': { when: 'after', event: 'session.accounted', times: everyWindow },
  'the last turn is recorded': { when: 'after', event: 'turn.recorded', times: everyTurn, only: everyTurn },
  'before the session is completed': { when: 'before', event: 'session.completed', times: once },
  'the session is completed': { when: 'after', event: 'session.completed', times: once },
} as const satisfies Record<string, Point>

/** The name of a point. */
export type PointName = keyof typeof POINTS

/** The names of all points. */
export const POINT_NAMES = Object.keys(POINTS) as readonly PointName[]

/** What a window's last turn sends when it is over the milestone, of a thousand. */
const CROSSING = 900

const turnsOf = (count: number, crosses: boolean, random: () => number): readonly PlannedTurn[] =>
  Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1
    const isFirst = index === 0
    // A fresh window that calls nothing has made no progress, and a handoff names calls.
    const tools = isFirst || (crosses && isLast) ? 1 + Math.floor(random() * 2) : Math.floor(random() * 3)
    return { promptTokens: crosses && isLast ? CROSSING : 100 * (1 + index), tools }
  })

/** The run that a seed makes of a point. */
export const planFor = (point: PointName, seed: number): Plan => {
  const random = randomFrom(seed * 1_000 + POINT_NAMES.indexOf(point))
  const count = 2 + Math.floor(random() * 2)
  const windows = Array.from({ length: count }, (_, index) =>
    turnsOf(2 + Math.floor(random() * 3), index < count - 1, random),
  )
  const { times, only }: Point = POINTS[point]
  const occurrence = only?.({ windows }) ?? 1 + Math.floor(random() * times({ windows }))
  // Eight seeds in a row give a point every kind of runtime.
  const kind = seed + POINT_NAMES.indexOf(point)
  const [takesSessionId = false, canResume = false, isAnnounced = false] = [1, 2, 4].map((bit) => (kind & bit) > 0)
  const key = `${seed}-${point.replaceAll(/[^a-z]+/g, '-')}`
  return { key, seed, point, occurrence, windows, takesSessionId, canResume, isAnnounced }
}
