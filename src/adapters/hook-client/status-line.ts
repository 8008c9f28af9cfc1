import { counted } from '../../domain/kernel/counted.ts'
import { asWords } from '../../domain/kernel/safe-text.ts'
import { cut, widthOf } from '../../domain/kernel/text-width.ts'
import type { SessionCard } from './session-card.ts'
import type { WindowLevel } from './window-level.ts'

/** Everything that a status line shows. */
export interface StatusFacts {
  readonly level: WindowLevel
  readonly costUsd: number | undefined
  readonly card: SessionCard | undefined
  /** A word about something that waits in this workspace; it stands before the notices. */
  readonly mark?: string | undefined
}

/** How a status line may look. */
export interface StatusLook {
  readonly width: number
  readonly isColoured: boolean
  /** Whether the terminal surely draws a block in one column. */
  readonly hasBlocks: boolean
}

type Colour = 'green' | 'yellow' | 'red' | 'plain'
interface Part {
  readonly text: string
  readonly colour: Colour
}

const CODES = { green: 32, yellow: 33, red: 31 } as const
const USUAL_MILESTONES: readonly number[] = [0.5, 0.65, 0.85]
/** How many columns of a notice make it worth showing. */
const NOTICE_COLUMNS = 24
const BETWEEN = ' · '

/** One line: the level of the window, a bar with the milestones, cost, restarts and notices, as much of it as fits. */
export const statusLine = (facts: StatusFacts, look: StatusLook): string => {
  const notice = [facts.mark, noticeOf(facts.card)].filter(Boolean).join(BETWEEN)
  const room = look.width - (notice === '' ? 0 : BETWEEN.length + Math.min(NOTICE_COLUMNS, widthOf(notice)))
  const layouts = layoutsOf(facts, look.hasBlocks)
  const chosen = layouts.find((parts) => widthOfAll(parts) <= room) ?? layouts.at(-1) ?? []
  const left = look.width - widthOfAll(chosen) - BETWEEN.length
  const whole = notice === '' || left < 2 ? chosen : [...chosen, { text: cut(notice, left), colour: 'yellow' } as const]
  if (widthOfAll(whole) > look.width) return cut(whole.map(({ text }) => text).join(BETWEEN), look.width)
  return whole.map((part) => (look.isColoured ? coloured(part) : part.text)).join(BETWEEN)
}

/** The same facts, from all there is to say to the least. */
const layoutsOf = (facts: StatusFacts, hasBlocks: boolean): readonly (readonly Part[])[] => {
  const { card, costUsd } = facts
  const milestones = card === undefined || card.milestones.length === 0 ? USUAL_MILESTONES : card.milestones
  const ratio = ratioOf(facts)
  const colour = colourOf(ratio, milestones)
  const head = (cells: number): Part => {
    const bar = ratio === undefined || cells === 0 ? '' : ` ${barOf(ratio, milestones, cells, hasBlocks)}`
    return { text: `window ${percentOf(facts, ratio)}${bar}`, colour }
  }
  const tokens = plainPart(tokensOf(facts))
  const cost = plainPart(costOf(costUsd))
  const restarts = plainPart(restartsOf(card?.restarts ?? 0))
  return [
    [head(20), ...tokens, ...cost, ...restarts],
    [head(20), ...cost, ...restarts],
    [head(10), ...cost, ...restarts],
    [head(0), ...cost, ...restarts],
    [head(0), ...restarts],
    [head(0)],
  ]
}

const plainPart = (text: string): readonly Part[] => (text === '' ? [] : [{ text, colour: 'plain' }])

const widthOfAll = (parts: readonly Part[]): number => widthOf(parts.map(({ text }) => text).join(BETWEEN))

const coloured = ({ text, colour }: Part): string =>
  colour === 'plain' ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`

/** The share of the window; the service's own size of it counts before the one the runtime reported. */
const ratioOf = ({ level, card }: StatusFacts): number | undefined => {
  if (level.state === 'share') return level.ratio
  if (level.state === 'unknown') return undefined
  const window = windowOf(level, card)
  return window === undefined ? undefined : level.usedTokens / window
}

const windowOf = (level: WindowLevel & { state: 'counted' }, card: SessionCard | undefined): number | undefined =>
  (card?.level.state === 'known' && card.level.windowTokens ? card.level.windowTokens : undefined) ?? level.windowTokens

const percentOf = ({ level, card }: StatusFacts, ratio: number | undefined): string => {
  if (ratio !== undefined) return `${Math.floor(ratio * 100)}%`
  if (level.state === 'counted') return `${shortCount(level.usedTokens)} of ?`
  return card?.level.state === 'compacting' ? 'compacting' : '?'
}

const tokensOf = ({ level, card }: StatusFacts): string => {
  if (level.state !== 'counted') return ''
  const window = windowOf(level, card)
  return window === undefined ? '' : `${shortCount(level.usedTokens)} of ${shortCount(window)}`
}

const shortCount = (tokens: number): string => {
  if (tokens < 1_000) return String(tokens)
  return tokens < 999_500 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1).replace('.0', '')}M`
}

const costOf = (usd: number | undefined): string => {
  if (usd === undefined || usd === 0) return ''
  return usd < 0.01 ? '<$0.01' : `$${usd.toFixed(usd < 100 ? 2 : 0)}`
}

const restartsOf = (restarts: number): string => (restarts === 0 ? '' : counted(restarts, 'restart'))

const colourOf = (ratio: number | undefined, milestones: readonly number[]): Colour => {
  if (ratio === undefined) return 'plain'
  const reached = milestones.filter((at) => ratio >= at).length
  if (reached === 0) return 'green'
  return reached === milestones.length ? 'red' : 'yellow'
}

/** A bar in which each milestone has a mark of its own. */
const barOf = (ratio: number, milestones: readonly number[], cells: number, hasBlocks: boolean): string => {
  const [full, empty, mark] = hasBlocks ? ['█', '░', '│'] : ['#', '-', '|']
  const marked = new Set(milestones.map((at) => Math.min(cells - 1, Math.floor(at * cells))))
  const filled = Math.min(cells, Math.floor(ratio * cells))
  const cellAt = (_: unknown, cell: number): string => (marked.has(cell) ? mark : cell < filled ? full : empty)
  return Array.from({ length: cells }, cellAt).join('')
}

/** The notices on one line. Their words may come from anywhere, and must not steer the terminal. */
const noticeOf = (card: SessionCard | undefined): string =>
  (card?.notices ?? [])
    .map((notice) => asWords(notice.slice(0, 500)))
    .filter((notice) => notice !== '')
    .join(BETWEEN)
