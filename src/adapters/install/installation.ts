import { ok } from '../../domain/kernel/result.ts'
import type { SettingsPlace } from '../../ports/agent/vendor.ts'
import { carryOutAll, planAll } from './carry-out.ts'
import { mixedCommandsIn } from './edits.ts'
import { type FileEdit, isChange, type PlannedChange, planInstall, planRemove } from './file-edit.ts'
import { jsonDocument, valueAt } from './json-document.ts'
import { type Holder, Receipts } from './receipts.ts'
import type { Settled } from './refusal.ts'
import { unifiedDiff } from './unified-diff.ts'
import type { GitFiles, Wanted } from './wanted.ts'

/** One installation: where the settings are, and what is to be in them. */
export interface Installation {
  readonly place: SettingsPlace
  readonly wanted: Wanted
  /** The folder of the service, for the notes that give files back. */
  readonly folder: string
  /** Nothing is written. */
  readonly isDryRun: boolean
  /** How git treats the files of the project. Absent where git does not keep the project. */
  readonly git?: GitFiles
}

/** The parts of an installation that differ from agent to agent: files have forms and places of their own. */
export interface AgentInstaller {
  /** The agent's word on our command line. */
  readonly name: string
  /** The files with our entries. A part that is not wanted is still found when it is to go. */
  readonly edits: (installation: Installation) => readonly FileEdit[]
  /** The files that stand in the folder of the project, by their paths in it. */
  readonly projectFiles?: (place: SettingsPlace) => readonly string[]
  /** The parts that are still wanted beside those that a plugin brings, and sentences about it. */
  readonly beside?: (installation: Installation) => { readonly wanted: Wanted; readonly remarks: readonly string[] }
  /** Sentences that a person should know after an installation. */
  readonly remarks: (installation: Installation) => readonly string[]
}

/** One file after it. */
export interface ChangedFile {
  readonly file: string
  readonly change: 'created' | 'changed' | 'removed' | 'unchanged'
  /** As `diff -u` writes it. */
  readonly diff: readonly string[]
}

/** Every file after it, and sentences a person should know. */
export interface Installed {
  readonly files: readonly ChangedFile[]
  readonly remarks: readonly string[]
}

/** Puts our entries into the settings of an agent, all of them or none. */
export const install = async (installation: Installation, installer: AgentInstaller): Promise<Settled<Installed>> => {
  const { wanted, remarks } = installer.beside?.(installation) ?? { wanted: installation.wanted, remarks: [] }
  const receipts = new Receipts(installation.folder)
  const edits = installer.edits({ ...installation, wanted })
  const done = await (installation.isDryRun
    ? planAll(edits, planInstall, receipts)
    : carryOutAll(edits, planInstall, receipts))
  if (!done.ok) return done
  return ok({
    files: done.value.map(changedFile),
    remarks: [...remarks, ...wanted.program.remarks, ...remarksOn(done.value), ...installer.remarks(installation)],
  })
}

/** Takes our entries out again. A file that nobody has changed since is given back byte for byte. */
export const uninstall = async (installation: Installation, installer: AgentInstaller): Promise<Settled<Installed>> => {
  const receipts = new Receipts(installation.folder)
  const edits = installer.edits(installation)
  if (installation.isDryRun) {
    const planned = planAll(edits, planRemove, receipts)
    return planned.ok ? ok({ files: planned.value.map(changedFile), remarks: [] }) : planned
  }
  const done = await carryOutAll(edits, planRemove, receipts)
  if (!done.ok) return done
  receipts.forget(done.value.flatMap(({ file, receipt }) => (receipt === undefined ? [file.target] : [])))
  return ok({
    files: done.value.map(changedFile),
    remarks: done.value.flatMap((change) => leftRemarks(change, installer.name)),
  })
}

const changedFile = (change: PlannedChange): ChangedFile => {
  const { edit, before, after } = change
  const diff = unifiedDiff(edit.path, before, after)
  if (!isChange(change)) return { file: edit.path, change: 'unchanged', diff }
  if (before === undefined) return { file: edit.path, change: 'created', diff }
  return { file: edit.path, change: after === undefined ? 'removed' : 'changed', diff }
}

const remarksOn = (changes: readonly PlannedChange[]): readonly string[] =>
  changes.some(({ after }) => after !== undefined && isSwitchedOff(after))
    ? ['These settings switch all hooks off: remove "disableAllHooks".']
    : []

const isSwitchedOff = (text: string): boolean => {
  const document = text.trimStart().startsWith('{') ? jsonDocument(text) : undefined
  return document?.ok === true && valueAt(document.value.root, ['disableAllHooks'])?.value === true
}

const leftRemarks = ({ edit, after, keptFor }: PlannedChange, agent: string): readonly string[] => {
  if (after === undefined) return []
  if (keptFor !== undefined) return [keptRemark(edit.path, keptFor, agent)]
  if (edit.path.endsWith('.md')) return [`${edit.path} was changed or is not ours, and stays.`]
  const count = edit.path.endsWith('.json') ? mixedCommandsIn(after) : 0
  return count === 0 ? [] : [`${edit.path} has a command of your own that calls baton among other things. It stays.`]
}

const keptRemark = (file: string, { scope, folder }: Holder, agent: string): string =>
  `Our entries in ${file} stay: they are those of the scope ${scope} (${folder}) too. "baton ${agent} uninstall --scope ${scope}" takes them out.`
