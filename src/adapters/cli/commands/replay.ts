import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { believedWindow, WINDOW_READERS } from '../../../container.ts'
import { defined } from '../../../domain/defined.ts'
import { DEFAULT_MILESTONES, type Milestone, milestoneProblem } from '../../../domain/milestone.ts'
import { milestonesAt, type Replay, replay, UnknownFormatError } from '../../../services/replay.ts'
import type { CliCommand, Invocation } from '../command.ts'
import { UsageError } from '../problems.ts'
import { renderReplay } from '../render-replay.ts'

/** What a person may want to compare with. */
const OTHER_THRESHOLDS = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

/** Says what would have happened: where a recorded window filled, compacted, and would have been warned about. */
export const replayCommand: CliCommand = {
  summary: 'follow a recorded session and say where each milestone would have fired',
  usage: 'replay <file|folder>… [--milestones 0.5,0.65,0.85] [--window TOKENS] [--format NAME] [--json]',
  details: [
    'Reads Claude Code transcripts, Claude Agent SDK streams and Codex rollouts (one JSON record a line).',
    '',
    '  --milestones LIST  fractions of the usable window, each higher than the last',
    '  --window TOKENS    a limit of your own; the runtime’s is used when it is smaller',
    `  --format NAME      instead of looking: ${WINDOW_READERS.map(({ format }) => format).join(', ')}`,
    '  --json             for machines: an array with one object per file',
  ].join('\n'),
  options: {
    milestones: { type: 'string' },
    window: { type: 'string' },
    format: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (invocation) => {
    const { values, positionals, out } = invocation
    if (positionals.length === 0) throw new UsageError('Say which file or folder to replay.')
    const milestones = milestonesOf(values.milestones)
    const limit = limitOf(values.window)
    const replays: (Replay & { file: string })[] = []
    for (const file of await filesIn(positionals)) {
      const result = await replayFile(file, milestones, limit, invocation)
      if (values.json !== true) out.line(renderReplay(file, result))
      else replays.push({ file, ...result })
    }
    if (values.json === true) out.line(JSON.stringify(replays.map(toJson), null, 2))
  },
}

const replayFile = async (
  file: string,
  milestones: readonly Milestone[],
  limit: number | undefined,
  { values, notes }: Invocation,
): Promise<Replay> => {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  const format = typeof values.format === 'string' ? values.format : undefined
  const onProgress = (count: number): void => notes.line(`${file}: ${count} lines…`)
  const thresholds = OTHER_THRESHOLDS
  const settings = { readers: WINDOW_READERS, milestones, believed: believedWindow, thresholds, onProgress }
  try {
    return await replay(lines, defined({ ...settings, format, limit }))
  } catch (problem) {
    if (problem instanceof UnknownFormatError) throw new UsageError(`${file}: ${problem.message}`, { cause: problem })
    throw problem
  }
}

/** The fields that stay: context figures are prompt tokens, and what nobody knows is null. */
const toJson = ({ file, ...replayed }: Replay & { file: string }) => ({
  file,
  format: replayed.format,
  turns: replayed.turns,
  peakContext: replayed.peakContext,
  lastContext: replayed.lastContext,
  window: replayed.window ?? null,
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
  lines: replayed.lines,
  damagedLines: replayed.damagedLines,
})

const milestonesOf = (given: string | boolean | undefined): readonly Milestone[] => {
  if (typeof given !== 'string') return DEFAULT_MILESTONES
  const milestones = milestonesAt(given.split(',').map(Number))
  const problem = milestoneProblem(milestones)
  if (problem !== undefined) throw new UsageError(`The milestones "${given}" cannot be used: ${problem}.`)
  return milestones
}

const limitOf = (given: string | boolean | undefined): number | undefined => {
  if (typeof given !== 'string') return undefined
  const tokens = Number(given)
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new UsageError(`A window is a number of tokens, got "${given}".`)
  return tokens
}

/** Files as named, and every recording below a named folder. */
const filesIn = async (paths: readonly string[]): Promise<readonly string[]> => {
  const found: string[] = []
  for (const path of paths) {
    const info = await stat(path).catch((cause: unknown) => {
      throw new UsageError(`There is no file or folder "${path}".`, { cause })
    })
    if (!info.isDirectory()) found.push(path)
    else {
      const below = await readdir(path, { recursive: true })
      found.push(
        ...below
          .filter((name) => name.endsWith('.jsonl'))
          .sort()
          .map((name) => join(path, name)),
      )
    }
  }
  if (found.length === 0) throw new UsageError('There is no .jsonl file below the folder.')
  return found
}
