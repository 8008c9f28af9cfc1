import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { ok, type Result } from '../../../domain/kernel/result.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import type { ThreadRefusal } from '../../../domain/thread/thread-refusal.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { editText } from '../../../processes/edit-text.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { approve } from '../choose/approve-thread.ts'
import { textFlag } from '../choose/history-args.ts'
import { placeOf } from '../choose/latest-conversation.ts'
import { budgetIn, modeIn, openingIn, ownSummary, summarizerIn } from '../choose/thread-choices.ts'
import { sourceOf } from '../choose/which-thread.ts'
import { accepted, refusedThread, withThreads, workspaceIn } from '../choose/with-threads.ts'
import { plain, toJson } from '../render/render-text.ts'
import { applyCommand, showAccepted, showDraft } from '../render/render-thread.ts'
import { ShownDraft } from '../render/shown-draft.ts'
import { hint } from '../terminal/hint.ts'
import type { Invocation, Run } from '../tree/command.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { CommandNotCompleted } from '../tree/problems.ts'

/** Opens a new thread that takes along a short summary. */
export const threadHandoff: Run = async (invocation) => {
  const mode = modeIn(invocation)
  const choices = { ...(await summarizerIn(invocation)), ...budgetIn(invocation) }
  const summary = await ownSummary(invocation)
  await withThreads(invocation, async (batonpass) => {
    const { threads } = batonpass
    const { parent, isGuess } = await sourceOf(invocation, batonpass.history)
    if (mode === 'without') {
      if (isGuess) throw unseenGuess(invocation, parent, '--without')
      return fresh(invocation, batonpass, parent)
    }
    const workspace = textFlag(invocation, 'workspace') === undefined ? placeOf(parent) : undefined
    const shown = new ShownDraft(invocation, batonpass, parent.id)
    const kept = mode === 'apply' ? shown.toApply() : undefined
    if (mode === 'apply' && isGuess && kept === undefined) throw unseenGuess(invocation, parent, '--apply')
    const words = summary ?? kept?.summary.text
    const request = defined({ summary: words, file: textFlag(invocation, 'file'), ...choices })
    const place = (workspace && workspaceOf(workspace)) ?? workspaceIn(invocation)
    const drawn = await threads.preview({ conversation: parent.id, workspace: place, ...request })
    const made = drawn.ok && kept !== undefined ? ok(await shown.inPlaceOf(drawn.value, kept)) : drawn
    const drafted = made.ok ? await withFeedback(invocation, batonpass, { draft: made.value, choices }) : made
    if (!drafted.ok) return insteadOf(invocation, batonpass, { parent, refusal: drafted.error })
    if (mode === 'preview') return preview(invocation, drafted.value, shown)
    if (mode === 'ask') return approve(invocation, batonpass, { draft: drafted.value, choices })
    mustBePlaced(invocation, drafted.value)
    await apply(
      invocation,
      batonpass,
      mode === 'edit' ? await edited(invocation, batonpass, drafted.value) : drafted.value,
    )
    shown.forget()
  })
}

/** A guess is fine where a person sees it before anything is written. A script, or somebody who saw nothing, names what is meant. */
const unseenGuess = ({ values }: Invocation, parent: Conversation, mode: string): CommandNotCompleted =>
  new CommandNotCompleted(
    plain(
      `Nobody has said which conversation is meant, so nothing was written. The latest one here is "${titleOf(parent)}": ` +
        hint(`baton thread handoff ${mode} --from ${parent.id}`, values),
    ),
    EXIT.refused,
  )

const withFeedback = async (
  { values }: Invocation,
  { threads }: Batonpass,
  { draft, choices }: { readonly draft: ThreadDraft; readonly choices: Parameters<Batonpass['threads']['refine']>[2] },
): Promise<Result<ThreadDraft, ThreadRefusal>> => {
  let refined: Result<ThreadDraft, ThreadRefusal> = { ok: true, value: draft }
  for (const feedback of (values.feedback as readonly string[] | undefined) ?? [])
    if (refined.ok) refined = await threads.refine(refined.value, feedback, choices)
  return refined
}

const preview = async ({ out, values }: Invocation, draft: ThreadDraft, shown: ShownDraft): Promise<void> => {
  const problem = await shown.keep(draft)
  if (values.json === true) return out.line(toJson(draft))
  showDraft(out, draft)
  out.line(`Nothing was written into ${plain(draft.target.file)}. --summary FILE takes a text of your own.`)
  if (problem === undefined) out.line('To open the thread with exactly these words:')
  else
    out.line(`These words could not be kept (${plain(problem)}). To open the thread with a summary that is made anew:`)
  out.line(plain(`  ${applyCommand(values, draft)}`))
}

const edited = async (invocation: Invocation, { threads }: Batonpass, draft: ThreadDraft): Promise<ThreadDraft> => {
  const text = await editText(draft.summary.text, invocation.environment)
  if (text === undefined) throw new CommandNotCompleted('The editor failed, and nothing was written.', EXIT.failure)
  return accepted(threads.edit(draft, text))
}

/** A summary must not end in a commit by accident: into a file that git keeps it goes when somebody says so. */
const mustBePlaced = ({ values }: Invocation, draft: ThreadDraft): void => {
  if (!draft.target.isTracked || values.yes === true) return
  const other = draft.target.untracked === undefined ? '' : ` Or say --file ${draft.target.untracked}.`
  throw new CommandNotCompleted(
    `${plain(draft.warnings.join(' '))} Say --yes to write it there.${other} (thread.file_tracked)`,
    EXIT.refused,
  )
}

const apply = async (invocation: Invocation, { threads }: Batonpass, draft: ThreadDraft): Promise<void> => {
  const { out, values, notes } = invocation
  if (values.json !== true) for (const warning of draft.warnings) notes.line(`Warning: ${plain(warning)}`)
  const opened = accepted(await threads.accept(draft, openingIn(invocation)))
  if (values.json === true) return out.line(toJson(publicPart(opened)))
  showAccepted(invocation, draft, opened)
}

/** The token of the session stays here: whoever begins the thread gets one of its own. */
const publicPart = ({ holder: _, monitor: __, ...opened }: { readonly holder?: unknown; readonly monitor?: unknown }) =>
  opened

const fresh = async (invocation: Invocation, { threads }: Batonpass, { id }: Conversation): Promise<void> => {
  const { conversation } = accepted(await threads.without(id, openingIn(invocation)))
  if (invocation.values.json === true) return invocation.out.line(toJson({ conversation }))
  invocation.out.line(plain(`A new thread without a summary is open: conversation ${conversation.id}.`))
}

/** Without a summary a person may continue all the same; a script is refused. */
const insteadOf = async (
  invocation: Invocation,
  batonpass: Batonpass,
  { parent, refusal }: { readonly parent: Conversation; readonly refusal: ThreadRefusal },
): Promise<void> => {
  if (refusal.code !== 'thread.not_summarized' || invocation.ask === undefined) throw refusedThread(refusal)
  invocation.notes.line(refusedThread(refusal).message)
  const answer = await invocation.ask('Continue without a handoff? (Y/n) ')
  if (answer === undefined || /^n/i.test(answer.trim())) return invocation.out.line('Nothing was written.')
  await fresh(invocation, batonpass, parent)
}
