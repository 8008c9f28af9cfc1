import { shortId } from '../../../domain/kernel/id-ending.ts'
import { levelOf, percentOf, shortTokens } from '../../../domain/window/window-level.ts'
import type { SessionNow, TakenDocument, WaitingHandoff, WorkStatus } from '../../../services/history/work-status.ts'
import type { PendingFound } from '../../hook-client/waiting-document.ts'
import { kindWord } from '../invocation/flag-words.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { Span, Style } from '../invocation/output.ts'
import { styleOf } from '../terminal/style.ts'
import { hiddenText } from './hidden-count.ts'
import { type StatusFrame, workStateOf } from './status-facts.ts'
import { cut, plain } from './text.ts'
import { type Column, TextTable } from './text-table.ts'
import { age } from './times.ts'

type Line = readonly Span[]

/** A look in lines of this width, at a time of this machine. */
export const renderStatus = (
  frame: StatusFrame,
  now: number,
  width?: number,
  trails?: LevelTrails,
  hint: Invocation['hint'] = (words) => words,
): readonly Line[] => {
  const { work, problem } = frame
  const lines = [serviceLine(frame, now), ...secretsLine(frame)]
  if (problem !== undefined) return [...lines, line(`The store cannot be read: ${plain(problem)}`, 'bad')]
  if (work === undefined) return [...lines, line('There is no store yet: nothing was ever kept here.')]
  const { sessions, handoffs, takenDocuments } = work
  const { documents = [] } = frame
  const signalled = sessions.filter(({ waitingSignals }) => waitingSignals.count > 0)
  return [
    ...lines,
    line(''),
    ...part('Sessions', sessions, sessionColumns(now).flatMap(withTrail(trails, width)), width),
    ...moreLine(work.hasMoreSessions, hint('baton sessions list --state active')),
    ...(handoffs.length > 0 || documents.length === 0
      ? [line(''), ...part('Waiting handoffs', handoffs, handoffColumns(work, now), width)]
      : []),
    ...moreLine(work.hasMoreHandoffs, hint('baton handoffs list --open')),
    ...optional('Documents for the next session', documents, documentColumns(now), width),
    ...optional('Taken over in the last day', takenDocuments, takenColumns(now), width),
    ...(signalled.length === 0 ? [] : [line(''), ...part('Waiting signals', signalled, signalColumns(now), width)]),
  ].map((spans) => (width === undefined || spans.length > 1 ? spans : spans.map(fitting(width))))
}

const fitting =
  (width: number) =>
  (span: Span): Span => ({ ...span, text: cut(span.text, width) })

const line = (text: string, style?: Style): Line => [{ text, style }]

const part = <Item>(
  title: string,
  items: readonly Item[],
  columns: readonly Column<Item>[],
  width: number | undefined,
): readonly Line[] => {
  if (items.length === 0) return [line(`${title}: none`)]
  const table = new TextTable(columns, items, width)
  return [line(`${title}: ${items.length}`, 'title'), table.header(), ...items.map((item) => table.row(item))]
}

/** A part that is left out where there is nothing in it. */
const optional: typeof part = (title, items, columns, width) =>
  items.length === 0 ? [] : [line(''), ...part(title, items, columns, width)]

const moreLine = (hasMore: boolean, command: string): readonly Line[] =>
  hasMore ? [line(`There are more: ${command}`)] : []

const serviceLine = ({ service }: StatusFrame, now: number): Line => {
  switch (service.state) {
    case 'none':
      return line('Service: none runs')
    case 'runs': {
      const since = service.startedAt === undefined ? '' : `, for ${age(service.startedAt, now)}`
      return line(
        `Service: runs (process ${service.pid}${service.port === undefined ? '' : `, port ${service.port}`}${since})`,
      )
    }
    case 'gone':
      return line(`Service: gone (process ${service.pid} ended and left service.json)`, 'bad')
    case 'silent':
      return line(`Service: process ${service.pid} does not answer`, 'bad')
    case 'older':
      return line(`Service: process ${service.pid} may be one of an older version, which is not asked`, 'bad')
    case 'unreadable':
      return line(`Service: nobody can say; service.json is no use (${service.why})`, 'bad')
    default:
      return service satisfies never
  }
}

const secretsLine = ({ secrets }: StatusFrame): readonly Line[] => {
  const text = secrets && hiddenText(secrets)
  return text === undefined ? [] : [line(`Secrets: ${text} (since ${plain(secrets?.since.slice(0, 10) ?? '')})`)]
}

/** The key of a conversation, or its short id. */
const conversationName = (key: string | undefined, id: string): string => key ?? shortId(id)

const WINDOW = 'WINDOW'

const sessionColumns = (now: number): readonly Column<SessionNow>[] => [
  { title: 'AGENT', of: ({ session }) => session.agentName, most: 14 },
  {
    title: 'CONVERSATION',
    of: ({ session, conversationKey }) => conversationName(conversationKey, session.conversationId),
    most: 16,
  },
  { title: 'EPOCH', of: ({ session }) => String(session.epoch), most: 5, importance: 1 },
  { title: 'STATE', of: workStateOf, most: 6, style: (item) => styleOf(workStateOf(item)) ?? 'waiting' },
  { title: WINDOW, of: levelText, most: 13 },
  { title: 'SINCE', of: ({ session }) => age(session.startedAt, now), most: 5, importance: 3 },
  { title: 'HOLDER', of: (item) => holderText(item), importance: 2, style: ({ holder }) => HOLDER_STYLE[holder] },
]

const LEAST_COLUMNS_OF_TRAIL = 72
const USUAL_COLUMNS = 80

/** Puts the level over time behind the level of now, where there is room beside everything else. */
const withTrail =
  (trails: LevelTrails | undefined, width = USUAL_COLUMNS) =>
  (column: Column<SessionNow>): readonly Column<SessionNow>[] => {
    if (trails === undefined || column.title !== WINDOW || width < LEAST_COLUMNS_OF_TRAIL) return [column]
    const cells = width < 100 ? 6 : width < 140 ? 16 : 24
    return [column, { title: 'LEVEL', of: (now) => trails.of(now, cells), most: cells }]
  }

const HOLDER_STYLE = { held: undefined, over: 'bad', gone: 'bad', unleased: undefined } as const

const levelText = ({ monitor }: SessionNow): string => {
  const level = levelOf(monitor)
  if (level.state !== 'known') return level.state
  const { ratio, windowTokens } = level
  return `${percentOf(ratio)} %${windowTokens === undefined ? '' : ` of ${shortTokens(windowTokens)}`}`
}

/** The most important word first: a narrow column shows only that. */
const holderText = ({ holder, lease }: SessionNow): string => {
  if (lease === undefined) return 'no lease'
  if (lease.broken !== undefined) return `broken lease (${lease.broken.join(', ')}): end its agent by hand`
  const { runner, until } = lease
  const who = runner?.leader === undefined ? '' : `pid ${runner.leader.pid} `
  const where = runner === undefined ? '' : ` on ${runner.host}`
  if (holder === 'gone') return `gone: ${who}${where.trim()}`
  if (holder === 'over') return `over: ${who}since ${clockTime(until)}${where}`
  return `${who}until ${clockTime(until)}${where}`
}

/** A time of today, as leases and claims end soon; in UTC like all others. */
const clockTime = (at: string): string => `${at.slice(11, 19)}Z`

const handoffColumns = (work: WorkStatus, now: number): readonly Column<WaitingHandoff>[] => [
  { title: 'FROM', of: ({ handoff }) => handoff.sourceAgent, most: 14 },
  { title: 'TO', of: ({ handoff }) => handoff.targetAgent, most: 14 },
  { title: 'KIND', of: ({ handoff }) => kindWord(handoff.kind), most: 8 },
  { title: 'WAITS', of: ({ handoff }) => age(handoff.initiatedAt, now), most: 5 },
  { title: 'CLAIM', of: claimText, style: ({ isClaimOver }) => (isClaimOver ? 'bad' : undefined) },
  ...(work.handoffs.some(({ conversationKey }) => conversationKey !== undefined)
    ? [{ title: 'CONVERSATION', of: conversationOf }]
    : []),
]

const conversationOf = ({ handoff, conversationKey }: WaitingHandoff): string =>
  conversationName(conversationKey, handoff.conversationId)

const claimText = ({ handoff, isClaimOver }: WaitingHandoff): string => {
  if (handoff.status !== 'accepted') return 'nobody yet'
  const { claimant, deadline } = handoff.claim
  return isClaimOver ? `ran out ${clockTime(deadline)}: ${claimant}` : `${claimant} until ${clockTime(deadline)}`
}

const documentColumns = (now: number): readonly Column<PendingFound>[] => [
  { title: 'FROM', of: ({ agentName }) => agentName, most: 14 },
  { title: 'WAITS', of: ({ writtenAt }) => age(writtenAt, now), most: 5 },
  { title: 'SESSION', of: ({ providerSessionId }) => providerSessionId, most: 36 },
  { title: 'WORKSPACE', of: ({ workspace }) => workspace },
]

const takenColumns = (now: number): readonly Column<TakenDocument>[] => [
  { title: 'FROM', of: ({ handoff }) => handoff.sourceAgent, most: 14 },
  { title: 'BY', of: ({ handoff }) => handoff.targetAgent, most: 14 },
  { title: 'AGO', of: ({ handoff }) => age(handoff.initiatedAt, now), most: 5 },
  { title: 'SESSION', of: ({ takenBy }) => takenBy, most: 36 },
  { title: 'WORKSPACE', of: ({ workspace }) => workspace },
]

const signalColumns = (now: number): readonly Column<SessionNow>[] => [
  { title: 'FOR', of: ({ session }) => session.agentName, most: 14 },
  {
    title: 'CONVERSATION',
    of: ({ session, conversationKey }) => conversationName(conversationKey, session.conversationId),
  },
  { title: 'SIGNALS', of: ({ waitingSignals: { count } }) => (count >= 100 ? '100 or more' : String(count)), most: 11 },
  { title: 'OLDEST', of: ({ waitingSignals: { oldest } }) => (oldest === undefined ? '' : age(oldest, now)), most: 6 },
]

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
/** Stands for a time at which nobody knew the level, such as a compaction. */
const GAP = '·'
/** More than a line has room for. */
const MOST = 60

/** One cell for each level: an eighth of the window a step, and full from there on. */
const cellOf = (ratio: number | undefined): string =>
  ratio === undefined ? GAP : (BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(ratio * BLOCKS.length))] ?? GAP)

/** The levels of windows over time, as far as a watch has seen them. A level that stays the same is one cell. */
export class LevelTrails {
  #seen = new Map<string, readonly (number | undefined)[]>()

  /** Takes one look. Sessions that are not in it any more are forgotten. */
  see(sessions: readonly SessionNow[]): void {
    this.#seen = new Map(sessions.map((now) => [now.session.id, this.#with(now)]))
  }

  /** The newest levels of a session, oldest first, in so many cells at most. */
  of({ session }: SessionNow, cells: number): string {
    const seen = this.#seen.get(session.id) ?? []
    return seen.slice(-cells).map(cellOf).join('')
  }

  #with({ session, monitor }: SessionNow): readonly (number | undefined)[] {
    const level = levelOf(monitor)
    const ratio = level.state === 'known' ? level.ratio : undefined
    const before = this.#seen.get(session.id) ?? []
    // Before the first reading there is nothing to draw.
    if (before.length === 0) return ratio === undefined ? [] : [ratio]
    return before.at(-1) === ratio ? before : [...before, ratio].slice(-MOST)
  }
}
