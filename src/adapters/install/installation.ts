import { ok } from '../../domain/kernel/result.ts'
import type { AgentPlace, ClaudeScope } from './agent-settings.ts'
import { claudeEdits, codexEdits, type GitFiles, type Wanted } from './agents.ts'
import { carryOutAll, planAll } from './carry-out.ts'
import { mixedCommandsIn } from './edits.ts'
import { type FileEdit, isChange, type PlannedChange, planInstall, planRemove } from './file-edit.ts'
import { jsonDocument, valueAt } from './json-document.ts'
import { lookAtClaude, type PartState, pluginScope } from './look.ts'
import { type Holder, Receipts } from './receipts.ts'
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
  /** How git treats the files of the project. Absent where git does not keep the project. */
  readonly git?: GitFiles
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
  receipts.forget(done.value.flatMap(({ file, receipt }) => (receipt === undefined ? [file.target] : [])))
  return ok({ files: done.value.map(changedFile), remarks: done.value.flatMap(leftRemarks) })
}

const editsOf = ({ agent, place, wanted, git }: Installation): readonly FileEdit[] =>
  agent.name === 'codex' ? codexEdits(place, wanted) : claudeEdits(agent.scope, place, wanted, git)

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
  folder,
}: Installation): { readonly wanted: Wanted; readonly remarks: readonly string[] } => {
  if (agent.name === 'codex' || pluginScope(place) === undefined) return { wanted, remarks: [] }
  const parts = wanted.parts.filter((part) => part === 'statusLine')
  const doubled = lookAtClaude(place, wanted, folder).flatMap(({ scope, parts }) =>
    parts.some(({ part, state }) => part !== 'statusLine' && OURS.includes(state)) ? [scope] : [],
  )
  const remove = doubled.map((scope) => `"baton claude uninstall --scope ${scope}"`).join(' and ')
  return {
    wanted: { ...wanted, parts },
    remarks: [
      'The plugin is switched on and brings the rest: only the status line is installed.',
      ...(doubled.length > 0
        ? [
            `The settings name hooks, server or command too, so each event is told twice: run ${remove}, then this again; or remove the plugin.`,
          ]
        : []),
    ],
  }
}

const OURS: readonly PartState[] = ['installed', 'incomplete', 'outdated']

const remarksOn = (changes: readonly PlannedChange[], { agent, wanted, git }: Installation): readonly string[] => {
  const isPath = wanted.program.start.args.length > 0 && wanted.program.shared === undefined
  const isOff = changes.some(({ after }) => after !== undefined && isSwitchedOff(after))
  return [
    ...(isOff ? ['These settings switch all hooks off: remove "disableAllHooks".'] : []),
    ...(agent.name === 'claude' && agent.scope === 'project' && isPath
      ? [
          'A path of this machine is now in settings that others share. With baton on the PATH it would be its name alone.',
        ]
      : []),
    ...(agent.name === 'claude' && git !== undefined ? gitRemarks(agent.scope, git) : []),
    ...(agent.name === 'codex' ? CODEX_REMARKS : []),
  ]
}

/** Files that others get though they are one person's, or do not get though they are for everybody. */
const gitRemarks = (scope: ClaudeScope, { files }: GitFiles): readonly string[] => {
  const those = (wanted: string) =>
    Object.entries(files).flatMap(([file, { state }]) => (state === wanted ? [file] : []))
  const settings = those('tracked').filter((file) => file.endsWith('.json'))
  if (scope === 'local')
    return settings.map((file) => `Git keeps ${file}, so others get these entries too: take it out (git rm --cached).`)
  return those('ignored').map((file) => `Git ignores ${file}, so others do not get it.`)
}

const CODEX_REMARKS = [
  'Codex runs new hooks once you have trusted them: start it and say yes, or look at /hooks.',
  'Codex has no status line that another program draws.',
]

const isSwitchedOff = (text: string): boolean => {
  const document = text.trimStart().startsWith('{') ? jsonDocument(text) : undefined
  return document?.ok === true && valueAt(document.value.root, ['disableAllHooks'])?.value === true
}

const leftRemarks = ({ edit, after, keptFor }: PlannedChange): readonly string[] => {
  if (after === undefined) return []
  if (keptFor !== undefined) return [keptRemark(edit.path, keptFor)]
  if (edit.path.endsWith('.md')) return [`${edit.path} was changed or is not ours, and stays.`]
  const count = edit.path.endsWith('.json') ? mixedCommandsIn(after) : 0
  return count === 0 ? [] : [`${edit.path} has a command of your own that calls baton among other things. It stays.`]
}

const keptRemark = (file: string, { scope, folder }: Holder): string =>
  `Our entries in ${file} stay: they are those of the scope ${scope} (${folder}) too. "baton claude uninstall --scope ${scope}" takes them out.`
