import { type Plan, POINTS, type PointName } from '../kill/kill-point.ts'
import { isResumedAfter } from './kill-grid.ts'

/** Which real agent hands to which. */
export const LEGS = {
  'SDK to claude': ['claude_agent_sdk', 'claude_code'],
  'claude to Codex': ['claude_code', 'codex'],
  'Codex to SDK': ['codex', 'claude_agent_sdk'],
} as const satisfies Record<string, readonly [string, string]>

/** Who finishes what was left: the same run again, or a worker for both agents. */
export type Finisher = 'run' | 'worker'

/** One place of the grid: who hands to whom, where the runner is killed, and who finishes it. */
export interface TransferCell {
  readonly leg: keyof typeof LEGS
  readonly point: PointName
  /** Whose step is meant where both agents have one: 1 for the first, 2 for its successor. */
  readonly who: 1 | 2
  readonly by: Finisher
}

/** The steps of a transfer, each with the agent that takes it. */
const STEPS: readonly (readonly [PointName, 1 | 2])[] = [
  ['the first turn is recorded', 1],
  ['before the turn that crosses', 1],
  ['while the turn that crosses is stored', 1],
  ['the turn that crosses is recorded', 1],
  ['asked for the checkpoint', 1],
  ['before the checkpoint is kept', 1],
  ['the checkpoint is kept', 1],
  ['the handoff is claimed', 1],
  ['the continuation is kept', 1],
  ['before the handoff is completed', 1],
  ['while the handoff is completed', 1],
  ['the handoff is completed', 1],
  ['launched, and nothing said yet', 2],
  ['launched, and not attached yet', 2],
  ['the session is attached', 2],
  ['the first turn is recorded', 2],
  ['before the session is completed', 1],
]

const legs = Object.keys(LEGS) as readonly TransferCell['leg'][]

/** The whole grid. */
export const TRANSFERS: readonly TransferCell[] = STEPS.flatMap(([point, who]) =>
  legs.flatMap((leg) => (['run', 'worker'] as const).map((by) => ({ leg, point, who, by }))),
)

/** Some of it, for every day: each leg once, and both who can finish it. */
export const SOME_TRANSFERS: readonly TransferCell[] = [
  { leg: 'SDK to claude', point: 'the turn that crosses is recorded', who: 1, by: 'run' },
  { leg: 'claude to Codex', point: 'the handoff is claimed', who: 1, by: 'worker' },
  { leg: 'Codex to SDK', point: 'the handoff is completed', who: 1, by: 'run' },
]

/** What a cell is called. A transfer has a turn that asks, where a restart has one that crosses. */
export const nameOfTransfer = ({ leg, point, who, by }: TransferCell): string => {
  const step = point.replace('the turn that crosses', 'the turn that asks')
  return `${step}${who === 2 ? ' (successor)' : ''}, ${leg}, finished by a ${by === 'run' ? 'further run' : 'worker'}`
}

/** Where the runner of a cell ends itself. */
export const planOfTransfer = ({ point, who }: TransferCell): Plan => {
  const kind = { takesSessionId: true, canResume: true, isAnnounced: true }
  const isOurs = POINTS[point].when !== 'launching' && POINTS[point].when !== 'asking'
  return { key: 'grid', seed: 1, point, occurrence: isOurs ? who : 0, windows: [], ...kind }
}

/** What an agent of the grid does next, by what it knows: whoever resumes a session asks again. */
export type Doing = { readonly word: string } | 'hands over' | 'waits' | 'is done' | 'has nothing to add'

const HANDED = /"name":"(?:mcp__baton_run__)?handoff"/g

export const BOTH = 'Say the words quokka and wombat, one after the other.'
/** The checkpoint of the first agent. */
export const SAID_FIRST = '<checkpoint>\n## Completed work\n- Said quokka alone\n</checkpoint>'
export const FIRST = 'quokka'
export const SECOND = 'wombat'
export const DONE_BOTH = 'Both were said.'

const knows = (known: string, word: string): boolean =>
  known.includes(`heard-${word}`) || known.includes(`echo ${word} >>`)

/** The first agent says its word and asks for the handoff; it is interrupted then, and asked no more. */
export const plannersNext = (known: string): Doing => {
  if (!knows(known, FIRST)) return { word: FIRST }
  const last = [...known.matchAll(HANDED)].at(-1)?.[0]
  return last === undefined || isResumedAfter(last, known) ? 'hands over' : 'waits'
}

/** Its successor says the other word and is done. */
export const codersNext = (known: string): Doing => {
  if (known.includes(DONE_BOTH)) return 'has nothing to add'
  return known.includes(`echo ${SECOND} >>`) ? 'is done' : { word: SECOND }
}
