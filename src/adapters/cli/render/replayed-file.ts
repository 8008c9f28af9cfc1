import { counted } from '../../../domain/kernel/counted.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { describeFigures, levelJson, percentOf, settingPercent } from '../../../domain/window/window-level.ts'
import type { Replay } from '../../../services/replay/record-replay.ts'
import type { Imported } from '../../../services/replay/recording-import.ts'
import { plain } from './text.ts'

const BLOCKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** A replay for a terminal: what the window went through, a small chart of it, and what would have been said. */
export const renderReplay = (replay: ReplayedFile): string =>
  [
    onOneLine(replay.file),
    `  ${replay.format}${replay.model === undefined ? '' : `, ${plain(replay.model)}`}: ${counted(replay.turns, 'turn')}, ` +
      `${counted(replay.toolCalls, 'tool call')}, ${counted(replay.subagentTurns, 'subagent turn')} left out`,
    `  context ${contextOf(replay)}, window ${windowOf(replay)}`,
    ...(replay.level.state === 'known' ? [`  in the end ${describeFigures(replay.level)}`] : []),
    ...(replay.chart.length === 0 || replay.window === undefined ? [] : [`  ${chart(replay.chart)}`]),
    ...replay.compactions.map(
      ({ trigger, preTokens, contextBefore, contextAfter }) =>
        `  compaction (${trigger}): ${tokens(contextBefore)} before, ${tokens(contextAfter)} after` +
        `${preTokens === undefined ? '' : `, the runtime counted ${tokens(preTokens)}`}`,
    ),
    ...replay.signals.map(
      ({ milestone, at, turn, pressure }) =>
        `  turn ${turn}: ${milestone} (${percent(at)}) at ${percentOf(pressure)} %`,
    ),
    ...(replay.signals.length === 0 ? ['  no milestone would have fired'] : []),
    ...(replay.window === undefined ? [] : [`  other thresholds: ${thresholds(replay)}`]),
    ...(replay.unmetered === 0 ? [] : [`  ${counted(replay.unmetered, 'answer')} without usage`]),
    ...(replay.damagedLines === 0 ? [] : [`  ${counted(replay.damagedLines, 'damaged line')} skipped`]),
    ...(replay.imported === undefined ? [] : [`  ${importedAs(replay.imported)}`]),
  ].join('\n')

const importedAs = ({ conversationId, turns, added }: NonNullable<ReplayedFile['imported']>): string =>
  `conversation ${conversationId}: ${counted(turns, 'turn')}, ${added} of them new`

const contextOf = ({ turns, lastContext, peakContext }: Replay): string =>
  turns === 0 || lastContext === undefined ? 'unknown' : `${tokens(lastContext)} last, ${tokens(peakContext)} peak`

const windowOf = ({ window }: Replay): string =>
  window === undefined ? 'unknown (name one with --window)' : `${tokens(window.tokens)} (${window.source})`

const thresholds = (replay: Replay): string =>
  replay.thresholds
    .map(({ at, times, firstTurn }) => `${percent(at)} ${times === 0 ? 'never' : `${times}× from turn ${firstTurn}`}`)
    .join(', ')

const chart = (columns: readonly number[]): string =>
  columns.map((ratio) => BLOCKS[Math.min(BLOCKS.length - 1, Math.ceil(ratio * (BLOCKS.length - 1)))]).join('')

const tokens = (value: number | undefined): string => (value === undefined ? 'unknown' : value.toLocaleString('en-US'))

const percent = (fraction: number): string => `${settingPercent(fraction)} %`

/** A file that was replayed, and what became of its import if one was asked for. */
export interface ReplayedFile extends Replay {
  readonly file: string
  readonly imported?: Imported
}

/** The fields that stay: context figures are prompt tokens, and what nobody knows is null. */
export const replayJson = (replayed: ReplayedFile) => ({
  file: replayed.file,
  format: replayed.format,
  turns: replayed.turns,
  peakContext: replayed.lastContext === undefined ? null : replayed.peakContext,
  lastContext: replayed.lastContext ?? null,
  window: replayed.window ?? null,
  wholeWindow: replayed.wholeWindow ?? null,
  level: levelJson(replayed.level),
  compactions: replayed.compactions.map(({ trigger, preTokens, contextBefore, contextAfter }) => ({
    trigger,
    preTokens: preTokens ?? null,
    contextBefore: contextBefore ?? null,
    contextAfter: contextAfter ?? null,
  })),
  subagentTurns: replayed.subagentTurns,
  toolCalls: replayed.toolCalls,
  signals: replayed.signals,
  thresholds: replayed.thresholds,
  model: replayed.model ?? null,
  unmetered: replayed.unmetered,
  lines: replayed.lines,
  damagedLines: replayed.damagedLines,
  ...(replayed.imported !== undefined && { imported: replayed.imported }),
})
