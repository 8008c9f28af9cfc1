import { counted } from '../../domain/kernel/counted.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { ThreadDraft } from '../../domain/thread/thread-draft.ts'
import type { ThreadAccepted } from '../../services/thread/thread-requests.ts'
import type { Output } from './command.ts'
import { plain, plainLines } from './render-text.ts'

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

/** Shows a thread that was opened, and how to begin in it. */
export const showAccepted = (
  out: Output,
  { conversation, threadKey, path, expiresAt, warnings }: ThreadAccepted,
): void => {
  out.line(plain(`The thread ${inQuotes(threadKey)} is open (conversation ${conversation.id}).`))
  out.line(plain(`Its summary is in ${path} until ${expiresAt}, and is taken out after the first exchange.`))
  out.line('Begin it with a new session of your agent in this workspace, or with:')
  out.line(plain(`  baton run --conversation ${quoted(threadKey)} "…"`))
  for (const warning of warnings) out.line(`Warning: ${plain(warning)}`)
}

const quoted = (key: string): string => (/^[\w:.-]+$/.test(key) ? key : `'${key.replaceAll("'", "'\\''")}'`)
