import { existsSync } from 'node:fs'
import { ok, type Result } from '../../domain/kernel/result.ts'
import type { JsonPath } from './json-document.ts'
import { digestOf, type Holder, type InstallReceipt, type Receipts } from './receipts.ts'
import { refuse, type Settled, type TextProblem } from './refusal.ts'
import { isReplaceable, readSettingsFile, type SettingsFile } from './settings-file.ts'

/** A text after an edit. Absent: the file goes. */
export interface Edited {
  readonly text: string | undefined
  readonly made?: readonly JsonPath[]
}

/** The past of a file: the note about it, and its text before us. */
export interface Past {
  readonly receipt: InstallReceipt | undefined
  /** Nobody has changed the file since it was written by us. */
  readonly isUntouched: boolean
  readonly original: string | undefined
  /** The note names this installation: it has put its entries in. */
  readonly isHolder?: boolean
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
  /** Whether nothing is to be put in; something that is there may still have to go. */
  isIdle?(text: string | undefined): boolean
  /** The installation that makes the edit. Absent where no other can share the file. */
  readonly holder?: Holder
}

/** A change of one file that was thought through and not yet made. */
export interface PlannedChange {
  readonly edit: FileEdit
  readonly file: SettingsFile
  readonly before: string | undefined
  readonly after: string | undefined
  /** The note to keep with it; absent where the file is given back. */
  readonly receipt?: InstallReceipt
  /** The note that was there before. */
  readonly earlier?: InstallReceipt
  /** The installation for which a file, or a place in it, stays as it is. */
  readonly keptFor?: Holder
}

/** Whether a plan changes anything. */
export const isChange = ({ before, after }: PlannedChange): boolean => before !== after

/** Thinks an installation in one file through. Nothing is written. */
export const planInstall = (edit: FileEdit, receipts: Receipts): Settled<PlannedChange> =>
  planned(edit, receipts, (text, past, file) => {
    const edited = edit.install(text, past)
    if (!edited.ok) return edited
    const { text: after, made = [] } = edited.value
    if (after !== text && after !== undefined)
      return ok({ after, receipt: receiptFor({ edit, file, past, before: text, after, made }) })
    // Another scope has put the same in: from now on it stays for both.
    const { receipt } = past
    const isShared = receipt !== undefined && edit.holder !== undefined && edit.isIdle?.(text) !== true
    return ok({ after: text, ...(isShared && { receipt: { ...receipt, holders: holdersWith(edit, receipt) } }) })
  })

/** Thinks through how one file is given back. Entries that another installation has put in too stay for it. */
export const planRemove = (edit: FileEdit, receipts: Receipts): Settled<PlannedChange> =>
  planned(edit, receipts, (text, past) => {
    if (text === undefined) return ok({ after: undefined })
    const { receipt, isUntouched, original } = past
    const others = othersBeside(edit, receipt)
    const keptFor = others.find(({ slot }) => slot === edit.holder?.slot)
    if (receipt !== undefined && keptFor !== undefined)
      return ok({ after: text, keptFor, receipt: { ...receipt, holders: others } })
    const isShared = others.length > 0
    if (!isShared && isUntouched && receipt?.existed === false) return ok({ after: undefined })
    if (!isShared && isUntouched && original !== undefined) return ok({ after: original })
    const edited = edit.remove(text, past)
    if (!edited.ok) return edited
    const { text: after } = edited.value
    if (isShared && receipt !== undefined && after !== undefined) {
      const written = isUntouched ? digestOf(Buffer.from(after)) : receipt.written
      return ok({ after, receipt: { ...receipt, holders: others, written } })
    }
    const isOver = after !== undefined && after !== text && receipt?.existed === false && edit.isBlank(after)
    return ok({ after: isOver ? undefined : after })
  })

const isSame = (one: Holder, other: Holder): boolean =>
  one.scope === other.scope && one.folder === other.folder && one.slot === other.slot

/** The other installations that a note names. One whose folder is gone cannot be taken out any more, and does not count. */
const othersBeside = ({ holder }: FileEdit, receipt: InstallReceipt | undefined): readonly Holder[] =>
  holder === undefined
    ? []
    : (receipt?.holders ?? []).filter((one) => !isSame(one, holder) && (one.scope === 'user' || existsSync(one.folder)))

const holdersWith = (edit: FileEdit, receipt: InstallReceipt | undefined): readonly Holder[] => [
  ...othersBeside(edit, receipt),
  ...(edit.holder === undefined ? [] : [edit.holder]),
]

type Decide = (
  text: string | undefined,
  past: Past,
  file: SettingsFile,
) => Result<Pick<PlannedChange, 'after' | 'receipt' | 'keptFor'>, TextProblem>

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
  const { holder } = edit
  const isHolder = holder !== undefined && (receipt?.holders ?? []).some((one) => isSame(one, holder))
  const decided = decide(before, { receipt, isUntouched, original, isHolder }, file)
  if (!decided.ok) return refuse(edit.path, decided.error)
  const plan = { edit, file, before, ...decided.value, ...(receipt !== undefined && { earlier: receipt }) }
  if (!isChange(plan)) return ok(plan)
  const replaceable = isReplaceable(file)
  return replaceable.ok ? ok(plan) : replaceable
}

/** As Claude Code makes its own file: there may be secrets in it. Settings may be read by everybody who can read the project. */
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

const receiptFor = ({ edit, file, past, before, after, made }: Written): InstallReceipt => {
  const { receipt } = past
  const existed = receipt?.existed ?? before !== undefined
  return {
    v: 1,
    file: file.target,
    existed,
    written: digestOf(Buffer.from(after)),
    made: [...(receipt?.made ?? []), ...made],
    folders: receipt?.folders ?? [],
    holders: holdersWith(edit, receipt),
    ...(existed && hasCopy(edit) && { original: originalOf({ edit, past, before }) }),
  }
}

/** Of a file that many write to, the bytes of before would be somebody's by the time they are given back. */
const hasCopy = ({ isLive, holder }: FileEdit): boolean => isLive !== true && holder?.slot === undefined

/** The bytes to give back: those from before us, or what the file has become without us. */
const originalOf = ({ edit, past, before = '' }: Pick<Written, 'edit' | 'past' | 'before'>): string => {
  if (past.isUntouched && past.receipt?.original !== undefined) return past.receipt.original
  const without = edit.remove(before, past)
  return Buffer.from(without.ok ? (without.value.text ?? '') : before).toString('base64')
}
