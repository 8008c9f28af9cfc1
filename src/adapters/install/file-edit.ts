import { ok, type Result } from '../../domain/kernel/result.ts'
import type { JsonPath } from './json-document.ts'
import { digestOf, type Receipt, type Receipts } from './receipts.ts'
import { refuse, type Settled, type TextProblem } from './refusal.ts'
import { isReplaceable, readSettingsFile, type SettingsFile } from './settings-file.ts'

/** A text after an edit. Absent: the file goes. */
export interface Edited {
  readonly text: string | undefined
  readonly made?: readonly JsonPath[]
}

/** The past of a file: the note about it, and its text before us. */
export interface Past {
  readonly receipt: Receipt | undefined
  /** Nobody has changed the file since it was written by us. */
  readonly isUntouched: boolean
  readonly original: string | undefined
}

/** One file that belongs to an installation, and how ours is put in and taken out. */
export interface FileEdit {
  readonly path: string
  install(text: string | undefined, past: Past): Result<Edited, TextProblem>
  remove(text: string, past: Past): Result<Edited, TextProblem>
  /** Whether nothing is left that a person could miss. */
  isBlank(text: string): boolean
  /** The runtime writes to it all the time, under a lock. Its bytes are not kept: they would be old by tomorrow. */
  readonly isLive?: true
}

/** A change of one file that was thought through and not yet made. */
export interface PlannedChange {
  readonly edit: FileEdit
  readonly file: SettingsFile
  readonly before: string | undefined
  readonly after: string | undefined
  /** The note to keep with it; absent where the file is given back. */
  readonly receipt?: Receipt
}

/** Whether a plan changes anything. */
export const isChange = ({ before, after }: PlannedChange): boolean => before !== after

/** Thinks an installation in one file through. Nothing is written. */
export const planInstall = (edit: FileEdit, receipts: Receipts): Settled<PlannedChange> =>
  planned(edit, receipts, (text, past, file) => {
    const edited = edit.install(text, past)
    if (!edited.ok) return edited
    const { text: after, made = [] } = edited.value
    if (after === text || after === undefined) return ok({ after: text })
    return ok({ after, receipt: receiptFor({ edit, file, past, before: text, after, made }) })
  })

/** Thinks through how one file is given back. */
export const planRemove = (edit: FileEdit, receipts: Receipts): Settled<PlannedChange> =>
  planned(edit, receipts, (text, past) => {
    if (text === undefined) return ok({ after: undefined })
    const { receipt, isUntouched, original } = past
    if (isUntouched && receipt?.existed === false) return ok({ after: undefined })
    if (isUntouched && original !== undefined) return ok({ after: original })
    const edited = edit.remove(text, past)
    if (!edited.ok) return edited
    const { text: after } = edited.value
    const isOver = after !== undefined && after !== text && receipt?.existed === false && edit.isBlank(after)
    return ok({ after: isOver ? undefined : after })
  })

type Decide = (
  text: string | undefined,
  past: Past,
  file: SettingsFile,
) => Result<{ readonly after: string | undefined; readonly receipt?: Receipt }, TextProblem>

const planned = (edit: FileEdit, receipts: Receipts, decide: Decide): Settled<PlannedChange> => {
  const read = readSettingsFile(edit.path)
  if (!read.ok) return read
  const { bytes, target } = read.value
  const file = bytes === undefined ? { ...read.value, mode: newModeOf(edit) } : read.value
  const before = textIn(bytes)
  if (before === false) return refuse(edit.path, { code: 'settings.malformed', problem: 'is not UTF-8' })
  const receipt = receipts.read(target)
  const isUntouched = receipt !== undefined && bytes !== undefined && digestOf(bytes) === receipt.written
  const original =
    receipt?.original === undefined ? undefined : Buffer.from(receipt.original, 'base64').toString('utf8')
  const decided = decide(before, { receipt, isUntouched, original }, file)
  if (!decided.ok) return refuse(edit.path, decided.error)
  const plan = { edit, file, before, ...decided.value }
  if (!isChange(plan)) return ok(plan)
  const replaceable = isReplaceable(file)
  return replaceable.ok ? ok(plan) : replaceable
}

/** As Claude Code makes its own file: there may be secrets in it. Settings may be read by whoever reads the project. */
const newModeOf = ({ isLive }: FileEdit): number => (isLive === true ? 0o600 : 0o644 & ~process.umask())

/** The text of a file with its mark of order, if it has one; `false` where it is none. */
const textIn = (bytes: Buffer | undefined): string | undefined | false => {
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return false
  }
}

interface Written {
  readonly edit: FileEdit
  readonly file: SettingsFile
  readonly past: Past
  readonly before: string | undefined
  readonly after: string
  readonly made: readonly JsonPath[]
}

const receiptFor = ({ edit, file, past, before, after, made }: Written): Receipt => {
  const { receipt } = past
  const existed = receipt?.existed ?? before !== undefined
  return {
    v: 1,
    file: file.target,
    existed,
    written: digestOf(Buffer.from(after)),
    made: [...(receipt?.made ?? []), ...made],
    folders: receipt?.folders ?? [],
    ...(existed && edit.isLive !== true && { original: originalOf({ edit, past, before }) }),
  }
}

/** The bytes to give back: those from before us, or what the file has become without us. */
const originalOf = ({ edit, past, before = '' }: Pick<Written, 'edit' | 'past' | 'before'>): string => {
  if (past.isUntouched && past.receipt?.original !== undefined) return past.receipt.original
  const without = edit.remove(before, past)
  return Buffer.from(without.ok ? (without.value.text ?? '') : before).toString('base64')
}
