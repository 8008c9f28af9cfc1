import type { AgentPlace, ClaudeScope } from '../../agent-settings.ts'
import { ok } from '../../domain/kernel/result.ts'
import { claudeEdits, codexEdits, type Wanted } from './agents.ts'
import { carryOutAll, planAll } from './carry-out.ts'
import { mixedCommandsIn } from './edits.ts'
import { type FileEdit, isChange, type PlannedChange, planInstall, planRemove } from './file-edit.ts'
import { jsonDocument } from './json-document.ts'
import { memberOf } from './json-tree.ts'
import { hasPluginIn } from './look.ts'
import { Receipts } from './receipts.ts'
import type { Settled } from './refusal.ts'
import { unifiedDiff } from './unified-diff.ts'

/** The agent whose settings are changed. */
export type Agent = { readonly name: 'claude'; readonly scope: ClaudeScope } | { readonly name: 'codex' }

/** One installation: whose settings, where they are, and what is to be in them. */
export interface Installation {
  readonly agent: Agent
  readonly place: AgentPlace
  readonly wanted: Wanted
  /** The folder of the service, for the notes that give files back. */
  readonly folder: string
  /** Nothing is written. */
  readonly isDryRun: boolean
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
export const install = async (installation: Installation): Promise<Settled<Installed>> => {
  const { wanted, remarks } = besideThePlugin(installation)
  const receipts = new Receipts(installation.folder)
  const edits = editsOf({ ...installation, wanted })
  const done = await (installation.isDryRun
    ? planAll(edits, planInstall, receipts)
    : carryOutAll(edits, planInstall, receipts))
  if (!done.ok) return done
  return ok({
    files: done.value.map(changedFile),
    remarks: [...remarks, ...wanted.program.remarks, ...remarksOn(done.value, installation)],
  })
}

/** Takes our entries out again. A file that nobody has changed since is given back byte for byte. */
export const uninstall = async (installation: Installation): Promise<Settled<Installed>> => {
  const receipts = new Receipts(installation.folder)
  const edits = editsOf(installation)
  if (installation.isDryRun) {
    const planned = planAll(edits, planRemove, receipts)
    return planned.ok ? ok({ files: planned.value.map(changedFile), remarks: [] }) : planned
  }
  const done = await carryOutAll(edits, planRemove, receipts)
  if (!done.ok) return done
  receipts.forget(done.value.map(({ file }) => file.target))
  return ok({ files: done.value.map(changedFile), remarks: done.value.flatMap(leftRemarks) })
}

const editsOf = ({ agent, place, wanted }: Installation): readonly FileEdit[] =>
  agent.name === 'codex' ? codexEdits(place, wanted) : claudeEdits(agent.scope, place, wanted)

const changedFile = (change: PlannedChange): ChangedFile => {
  const { edit, before, after } = change
  const diff = unifiedDiff(edit.path, before, after)
  if (!isChange(change)) return { file: edit.path, change: 'unchanged', diff }
  if (before === undefined) return { file: edit.path, change: 'created', diff }
  return { file: edit.path, change: after === undefined ? 'removed' : 'changed', diff }
}

/** The plugin brings all but the status line. Both would tell the service everything twice. */
const besideThePlugin = ({
  agent,
  place,
  wanted,
}: Installation): { readonly wanted: Wanted; readonly remarks: readonly string[] } => {
  if (agent.name === 'codex' || !(['user', 'project', 'local'] as const).some((scope) => hasPluginIn(scope, place)))
    return { wanted, remarks: [] }
  const parts = wanted.parts.filter((part) => part === 'statusLine')
  return {
    wanted: { ...wanted, parts },
    remarks: ['The plugin is switched on and brings the rest: only the status line is installed.'],
  }
}

const remarksOn = (changes: readonly PlannedChange[], { agent, wanted }: Installation): readonly string[] => {
  const isPath = wanted.program.start.args.length > 0
  const isOff = changes.some(({ after }) => after !== undefined && isSwitchedOff(after))
  return [
    ...(isOff ? ['These settings switch all hooks off: remove "disableAllHooks".'] : []),
    ...(agent.name === 'claude' && agent.scope === 'project' && isPath
      ? [
          'A path of this machine is now in settings that others share. With baton on the PATH it would be its name alone.',
        ]
      : []),
    ...(agent.name === 'codex' ? CODEX_REMARKS : []),
  ]
}

const CODEX_REMARKS = [
  'Codex runs new hooks once you have trusted them: start it and say yes, or look at /hooks.',
  'Codex has no status line that another program draws.',
]

const isSwitchedOff = (text: string): boolean => {
  const document = text.trimStart().startsWith('{') ? jsonDocument(text) : undefined
  const value = document?.ok === true ? memberOf(document.value.root, 'disableAllHooks')?.value : undefined
  return value?.kind === 'scalar' && value.value === true
}

const leftRemarks = ({ edit, after }: PlannedChange): readonly string[] => {
  if (after === undefined) return []
  if (edit.path.endsWith('.md')) return [`${edit.path} was changed or is not ours, and stays.`]
  const count = edit.path.endsWith('.json') ? mixedCommandsIn(after) : 0
  return count === 0 ? [] : [`${edit.path} has a command of your own that calls baton among other things. It stays.`]
}
