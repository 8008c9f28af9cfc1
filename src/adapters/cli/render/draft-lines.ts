import { counted } from '../../../domain/kernel/counted.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import { AGENT_RUNTIMES, backendOf } from '../../../main/runtimes.ts'
import { quoted } from '../../../processes/quoted.ts'
import type { ThreadAccepted } from '../../../services/thread/thread-requests.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { plain, plainLines } from './text.ts'

/** Shows a draft: where it comes from, what to know before accepting, and the summary. */
export const showDraft = (out: Output, draft: ThreadDraft): void => {
  const { source, summary, refinements, isEdited, target } = draft
  const by = isEdited ? 'written by you' : `written by ${summary.modelUsed}`
  const again = refinements === 0 ? '' : `, refined ${counted(refinements, 'time')}`
  out.line(
    plain(`From ${source.agentName}, conversation ${source.conversationId}: ${summary.tokens} tokens, ${by}${again}.`),
  )
  out.line(plain(`For ${target.workspace}/${target.file}.`))
  for (const warning of draft.warnings) out.line(`Warning: ${plain(warning)}`)
  out.line('')
  for (const line of plainLines(summary.text)) out.line(line)
  out.line('')
}

/** Flags of a preview that also say how its thread is opened. */
const OPENING = ['to-key', 'task', 'file', 'workspace', 'config'] as const

/** The command that opens the thread of a draft that was shown. A file that git keeps is named, or another one. */
export const applyCommand = (
  { values, hint }: Pick<Invocation, 'values' | 'hint'>,
  { source, target }: ThreadDraft,
): string => {
  const { isTracked, untracked } = target
  const flags = OPENING.flatMap((name) =>
    values[name] === undefined ? [] : [`--${name} ${quoted(`${values[name]}`)}`],
  )
  const tracked = !isTracked ? [] : untracked === undefined ? ['--yes'] : [`--file ${quoted(untracked)}`]
  return hint(['baton thread handoff --apply', `--from ${source.conversationId}`, ...flags, ...tracked].join(' '))
}

/** Shows a thread that was opened, and how to begin in it: where its summary is, in its store, with the runtime it had. */
export const showAccepted = (
  { out, hint }: Pick<Invocation, 'out' | 'hint'>,
  { target, source }: Pick<ThreadDraft, 'target' | 'source'>,
  { conversation, threadKey, path, expiresAt, warnings }: ThreadAccepted,
): void => {
  const runtime = AGENT_RUNTIMES.find((name) => backendOf(name) === source.backend)
  const cwd = target.workspace === process.cwd() ? '' : ` --cwd ${quoted(target.workspace)}`
  const by = runtime === undefined ? '' : ` --runtime ${runtime}`
  out.line(plain(`The thread ${inQuotes(threadKey)} is open (conversation ${conversation.id}).`))
  out.line(plain(`Its summary is in ${path} until ${expiresAt}, and is taken out after the first exchange.`))
  out.line('Begin it with a new session of your agent in this workspace, or with:')
  out.line(plain(`  ${hint(`baton run --conversation ${quoted(threadKey)}${cwd}${by}`)} 'Continue.'`))
  for (const warning of warnings) out.line(`Warning: ${plain(warning)}`)
}
