import { levelJson } from '../../../domain/window/window-level.ts'
import type { Imported } from '../../../services/replay/recording-import.ts'
import type { Replay } from '../../../services/replay/replay.ts'

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
