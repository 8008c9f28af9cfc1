import { basename } from 'node:path'
import { defined } from '../../../domain/kernel/defined.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { DEFAULT_MILESTONES, type Milestone, milestoneProblem, milestonesAt } from '../../../domain/window/milestone.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { windowReaders } from '../../../main/runtimes.ts'
import { sha256 } from '../../../ports/system/sha256.ts'
import { type ReplayOptions, replay } from '../../../services/replay/record-replay.ts'
import { UnknownFormatError } from '../../../services/replay/record-source.ts'
import { RecordingImport } from '../../../services/replay/recording-import.ts'
import { believedWindow } from '../../catalogue/model-catalogue.ts'
import { sayHidden } from '../choose/hidden-secrets.ts'
import { type RecordingFile, readLines, recordingFiles } from '../choose/recordings.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { type ReplayedFile, renderReplay, replayJson } from '../render/replayed-file.ts'
import { toJson } from '../render/text.ts'

/** Thresholds that a person may want to compare with. */
const OTHER_THRESHOLDS = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

/** Says what would have happened: where a recorded window filled, compacted, and would have been warned about. */
export const replayCommand: Run = async (invocation) => {
  const { values, positionals } = invocation
  if (positionals.length === 0) throw new UsageError('Say which file or folder to replay.')
  const options = await optionsFrom(invocation)
  const files = await recordingFiles(positionals)
  if (values.store !== true) return replayAll(files, options, invocation)
  // Loaded here: most replays keep nothing.
  const { openFor } = await import('../choose/opened-store.ts')
  await using opened = await openFor(invocation, { part: 'recorder', to: 'write' })
  const { batonpass, redactor } = opened
  await replayAll(files, options, invocation, { ...batonpass, redact: redactor.redact })
  sayHidden(invocation, redactor)
}

/** Where a recording is kept, and how its secrets are hidden. */
type Keeping = Batonpass & { readonly redact: (text: string) => string }

const replayAll = async (
  files: readonly RecordingFile[],
  options: ReplayOptions,
  { values, out, notes }: Invocation,
  keeping?: Keeping,
): Promise<void> => {
  const isJson = values.json === true
  const replays: ReplayedFile[] = []
  let unknown = 0
  for (const file of files) {
    const replayed = await replayFile(file, options, notes, keeping)
    if (replayed === undefined) continue
    unknown += replayed.imported?.unknown ?? 0
    if (isJson) replays.push(replayed)
    else out.line(renderReplay(replayed))
  }
  if (isJson) out.line(toJson(replays.map(replayJson)))
  // Once for all files: it is the same for each of them.
  if (unknown > 0) notes.line(`Prompts of unknown origin: ${unknown}. ${UNKNOWN}`)
}

const UNKNOWN = "No hook saw who wrote them. They are on record, and no successor is given them as a person's words."

const replayFile = async (
  file: RecordingFile,
  options: ReplayOptions,
  notes: Output,
  keeping: Keeping | undefined,
): Promise<ReplayedFile | undefined> => {
  const importing = keeping && new RecordingImport({ ...keeping, sha256, name: basename(file.path) })
  const lines = readLines(file.path, { onBytes: progress(file, notes) })
  try {
    const onRecord = importing && ((seen: Parameters<RecordingImport['take']>[0]) => importing.take(seen))
    const replayed = await replay(lines, defined({ ...options, onRecord }))
    return defined({ file: file.path, ...replayed, imported: await importing?.end() })
  } catch (problem) {
    if (!(problem instanceof UnknownFormatError)) throw problem
    if (file.isNamed) throw new UsageError(`${file.path}: ${problem.message}`, { cause: problem })
    notes.line(`${file.path}: ${problem.message}`)
    return undefined
  }
}

/** Files below this are done before anybody wonders. */
const LONG_FILE = 20_000_000

/** Says how far a long file has been read, in tenths. */
const progress = ({ path, bytes }: RecordingFile, notes: Output): ((read: number) => void) => {
  let [sum, tenths] = [0, 0]
  return (read) => {
    sum += read
    const reached = Math.floor((sum / bytes) * 10)
    if (bytes < LONG_FILE || reached <= tenths) return
    tenths = reached
    notes.line(`${onOneLine(path)}: ${reached * 10} % of ${Math.round(bytes / 1_000_000)} MB`)
  }
}

const optionsFrom = async ({ values }: Invocation): Promise<ReplayOptions> => {
  const format = typeof values.format === 'string' ? values.format : undefined
  const [milestones, limit] = [milestonesOf(values.milestones), limitOf(values.window)]
  const settings = { readers: await windowReaders(), believed: believedWindow, thresholds: OTHER_THRESHOLDS }
  return defined({ ...settings, milestones, format, limit })
}

const milestonesOf = (given: Invocation['values'][string]): readonly Milestone[] => {
  if (typeof given !== 'string') return DEFAULT_MILESTONES
  // An empty word is no number, though JavaScript takes it for 0.
  const milestones = milestonesAt(given.split(',').map((word) => (word.trim() === '' ? Number.NaN : Number(word))))
  const problem = milestoneProblem(milestones)
  if (problem !== undefined) throw new UsageError(`The milestones "${given}" cannot be used: ${problem}.`)
  return milestones
}

const limitOf = (given: Invocation['values'][string]): number | undefined => {
  if (typeof given !== 'string') return undefined
  const tokens = Number(given)
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new UsageError(`A window is a number of tokens, got "${given}".`)
  return tokens
}
