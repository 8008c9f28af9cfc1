import { randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, type renameSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ok, type Result } from '../../domain/kernel/result.ts'
import { type MemoryFileChange, MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import { makeWhole, writeWhole } from '../files/whole-file.ts'
import { type FilePlace, filePlaceOf } from './place.ts'
import { decodedText, isStill, MOST_BYTES, openedBytes, openText, type TextFile, tooLarge } from './text-file.ts'

/** Makes a new text of the text of a file. */
export type Rule<R> = (text: string | undefined) => Result<string, R>

/** The change of one file. */
export interface FileChange<R> {
  readonly workspace: string
  readonly path: string
  /** The folder that nobody else of ours changes now. */
  readonly folder: string
  readonly rule: Rule<R>
  /** Moves a file over another one. */
  readonly rename?: typeof renameSync
}

const MOST_TRIES = 200
const NEW_FILE_MODE = 0o644
/** Programs that save in place empty the file first. A file is left alone for so long after it was written to. */
const QUIET_MS = 20
/** An empty file may be one that is being saved. */
const EMPTY_QUIET_MS = 200
/** So long after its name was given away, nobody writes into the old file any more, as a rule. */
const LATE_MS = 10
const MOST_LOOKS = 50

/**
 * Changes a file by a rule, as often as it takes. The folder is ours meanwhile, but programs of others are not stopped by
 * that: so we look again right before the new file takes the name, and after.
 */
export const changeFile = async <R>(change: FileChange<R>): Promise<Result<MemoryFileChange, R>> => {
  let isWritten = false
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const step = await takeStep(change)
    isWritten ||= step.isWritten
    if (!step.result.ok) return step.result
    if (step.isFinal) return ok({ isWritten, text: step.result.value })
  }
  throw allTheTime(change.path)
}

const allTheTime = (path: string): MemoryFileFailure =>
  new MemoryFileFailure(
    'memory_file.busy',
    `${path} is changed by another program all the time. Close that program, and try again.`,
  )

interface Step<R> {
  readonly result: Result<string, R>
  readonly isWritten: boolean
  /** The file was seen with this text, and the rule has nothing to add to it. */
  readonly isFinal: boolean
}

const takeStep = async <R>(change: FileChange<R>): Promise<Step<R>> => {
  const place = filePlaceOf(change.workspace, change.path)
  if (place.folder !== change.folder) throw allTheTime(change.path)
  const old = await openQuiet(place.target)
  try {
    const result = change.rule(old?.text)
    if (!result.ok || result.value === old?.text) return { result, isWritten: false, isFinal: true }
    const isWritten = tryToReplace(change, place, { old, text: result.value })
    if (!isWritten) return { result, isWritten, isFinal: false }
    if (old !== undefined) await mergeLateWords(change, place, { old, text: result.value })
    else await pause(LATE_MS)
    // A program that had read the old file may have put its own over ours: then the rule has something to add again.
    return { result, isWritten, isFinal: openedText(place.target) === result.value }
  } finally {
    old?.close()
  }
}

/** Opens a file that nobody has written to for a while. @throws MemoryFileFailure when somebody always has */
const openQuiet = async (path: string): Promise<TextFile | undefined> => {
  for (let looks = 0; looks < MOST_TRIES; looks += 1) {
    const file = openText(path)
    if (file === undefined) return undefined
    const age = Date.now() - file.stats.mtimeMs
    // A time that is still to come says nothing.
    if (age < 0 || age >= (file.bytes.length === 0 ? EMPTY_QUIET_MS : QUIET_MS)) return file
    file.close()
    await pause(QUIET_MS / 2)
  }
  throw allTheTime(path)
}

const openedText = (target: string): string | undefined => {
  const file = openText(target)
  file?.close()
  return file?.text
}

interface Texts {
  readonly old: TextFile | undefined
  readonly text: string
}

/** Puts a new file in the place of one that is still as it was read. @returns whether it is there */
const tryToReplace = <R>(change: FileChange<R>, place: FilePlace, { old, text }: Texts): boolean => {
  const { target } = place
  const bytes = Buffer.from(text)
  if (bytes.length > MOST_BYTES) throw tooLarge(target)
  const isStillWanted = (): boolean =>
    filePlaceOf(change.workspace, change.path).target === target && (old === undefined || isStill(target, old))
  if (old === undefined)
    return makeWhole(target, bytes, { mode: NEW_FILE_MODE, isDurable: true, isStillWanted, mayRename: true })
  checkReplaceable(target, old)
  const { uid, gid, mode } = old.stats
  const takesOver = { mode, owner: { uid, gid } }
  const rename = change.rename && { rename: change.rename }
  try {
    return writeWhole(target, bytes, { takesOver, isDurable: true, isStillWanted, ...rename })
  } catch (problem) {
    throw (problem as NodeJS.ErrnoException).syscall === 'fchown' ? ofOthers(target, old, problem) : problem
  }
}

/**
 * Whether a file may be replaced by another one under its name.
 *
 * @throws MemoryFileFailure when it is read-only, or has more names than one
 */
const checkReplaceable = (target: string, { stats }: TextFile): void => {
  if ((stats.mode & 0o200) === 0) throw readOnly(target)
  // It may be gone by now, which is seen right before the new file takes its name.
  if (existsSync(target)) accessSync(target, constants.W_OK)
  if (stats.nlink === 1) return
  const problem = `${target} has ${stats.nlink} names (hard links), and the others would keep the old text.`
  throw new MemoryFileFailure('memory_file.hard_linked', `${problem} Make them symbolic links, or use another file.`)
}

const readOnly = (target: string): MemoryFileFailure =>
  new MemoryFileFailure(
    'memory_file.not_writable',
    `${target} is read-only. Make it writable (chmod u+w), or use another file.`,
  )

const ofOthers = (target: string, { stats: { uid, gid } }: TextFile, cause: unknown): MemoryFileFailure => {
  const problem = `${target} belongs to another user or group (${uid}:${gid}), which a new file could not keep.`
  return new MemoryFileFailure('memory_file.not_writable', `${problem} Use a file of your own.`, { cause })
}

/**
 * Looks into the file that was replaced: a program may have written into it meanwhile, and its words have no name now.
 * They become the file, with the change made to them.
 */
const mergeLateWords = async <R>(
  change: FileChange<R>,
  place: FilePlace,
  { old, text }: { readonly old: TextFile; readonly text: string },
): Promise<void> => {
  await pause(LATE_MS)
  let bytes = openedBytes(old.descriptor)
  if (bytes.equals(old.bytes)) return
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    await pause(LATE_MS)
    const next = openedBytes(old.descriptor)
    if (next.length > 0 && next.equals(bytes)) break
    bytes = next
  }
  await putBack(change, place, { bytes, text })
}

const putBack = async <R>(
  change: FileChange<R>,
  place: FilePlace,
  { bytes, text }: { readonly bytes: Buffer; readonly text: string },
): Promise<void> => {
  let ours: TextFile | undefined
  let isBack = false
  let cause: unknown
  try {
    ours = openText(place.target)
    isBack = ours?.text === text && tryToReplace(change, place, { old: ours, text: decodedText(place.target, bytes) })
  } catch (problem) {
    cause = problem
  } finally {
    ours?.close()
  }
  if (!isBack) throw rescue(place, bytes, cause)
}

/** Keeps bytes that have no name any more in a file beside the one they were meant for. @returns the failure that names it */
const rescue = ({ target }: FilePlace, bytes: Buffer, cause: unknown): MemoryFileFailure => {
  const beside = `${target}.rescued-${randomUUID().slice(0, 8)}`
  writeFileSync(beside, bytes, { flag: 'wx', mode: 0o600, flush: true })
  const problem = `Two programs wrote to ${target} while it was replaced.`
  return new MemoryFileFailure(
    'memory_file.conflict',
    `${problem} The text of one of them is in ${beside}: merge it by hand.`,
    { cause },
  )
}
