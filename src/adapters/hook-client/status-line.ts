import { counted } from '../../domain/kernel/counted.ts'
import { asWords } from '../../domain/kernel/safe-text.ts'
import { cut, widthOf } from '../../domain/kernel/text-width.ts'
import { describeTokens, percentOf, shortTokens, tokensOf, type WindowLevel } from '../../domain/window/window-level.ts'
import type { HookCard } from './hook-card.ts'
import type { ReadStatus } from './hook-window.ts'

/** Everything that a status line shows. */
export interface StatusFacts {
  readonly level: WindowLevel
  /** The runtime's own words: tokens of a window nobody knows the size of are still worth showing. */
  readonly read: ReadStatus
  readonly costUsd: number | undefined
  readonly card: HookCard | undefined
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
/** How many columns a notice gets before the rest: one of a milestone is whole in them. */
const NOTICE_COLUMNS = 40
const BETWEEN = ' · '

/** One line: the level of the window, a bar with the milestones, cost, restarts and notices, as much of it as fits. */
export const statusLine = (facts: StatusFacts, look: StatusLook): string => {
  const notice = [facts.mark, noticeOf(facts.card)].filter(Boolean).join(BETWEEN)
  const room = look.width - (notice === '' ? 0 : BETWEEN.length + Math.min(NOTICE_COLUMNS, widthOf(notice)))
  const layouts = layoutsOf(facts, look.hasBlocks)
  const chosen = layouts.find((parts) => widthOfAll(parts) <= room) ?? layouts.at(-1) ?? []
  const left = look.width - widthOfAll(chosen) - BETWEEN.length
  const whole =
    notice === '' || left < 2 ? chosen : [...chosen, { text: cutAtWord(notice, left), colour: 'yellow' } as const]
  if (widthOfAll(whole) > look.width) return cut(whole.map(({ text }) => text).join(BETWEEN), look.width)
  return whole.map((part) => (look.isColoured ? coloured(part) : part.text)).join(BETWEEN)
}

/** Cut between two words, where there are several: half of a number says something else. */
const cutAtWord = (text: string, width: number): string => {
  const short = cut(text, width)
  return short === text ? text : short.replace(/(\S)\s+\S*…$/, '$1…')
}

/** The same facts, from all there is to say to the least. */
const layoutsOf = (facts: StatusFacts, hasBlocks: boolean): readonly (readonly Part[])[] => {
  const { card, costUsd } = facts
  const milestones = card === undefined || card.milestones.length === 0 ? USUAL_MILESTONES : card.milestones
  const ratio = facts.level.state === 'known' ? facts.level.ratio : undefined
  const colour = colourOf(ratio, milestones)
  const head = (cells: number): Part => {
    const bar = ratio === undefined || cells === 0 ? '' : ` ${barOf(ratio, milestones, cells, hasBlocks)}`
    return { text: `window ${headOf(facts)}${bar}`, colour }
  }
  const { level } = facts
  const whole = plainPart((level.state === 'known' && describeTokens(level)) || '')
  const tokens = plainPart((level.state === 'known' && tokensOf(level)) || '')
  const cost = plainPart(costOf(costUsd))
  const restarts = plainPart(restartsOf(card?.restarts ?? 0))
  return [
    [head(20), ...whole, ...cost, ...restarts],
    [head(10), ...whole, ...cost, ...restarts],
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

const headOf = ({ level, read: { reading }, card }: StatusFacts): string => {
  if (level.state === 'known') return `${percentOf(level.ratio)}%`
  if (reading.state === 'metered') return `${shortTokens(reading.promptTokens + reading.outputTokens)} of ?`
  return card?.isCompacting === true ? 'compacting' : '?'
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
const noticeOf = (card: HookCard | undefined): string =>
  (card?.notices ?? [])
    .map((notice) => asWords(notice.slice(0, 500)))
    .filter((notice) => notice !== '')
    .join(BETWEEN)
