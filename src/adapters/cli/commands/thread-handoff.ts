import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { ok, type Result } from '../../../domain/kernel/result.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import type { ThreadRefusal } from '../../../domain/thread/thread-refusal.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { editText } from '../../../processes/edit-text.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { textFlag } from '../choose/flag-values.ts'
import { ShownDraft } from '../choose/shown-draft.ts'
import {
  accepted,
  budgetIn,
  modeIn,
  openForThreads,
  openingIn,
  ownSummary,
  refusedThread,
  sourceOf,
  summarizerIn,
  workspaceIn,
} from '../choose/thread-choices.ts'
import { CommandNotCompleted } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { conversationFolder } from '../render/conversation-rows.ts'
import { applyCommand, showAccepted, showDraft } from '../render/draft-lines.ts'
import { plain, toJson } from '../render/text.ts'

/** Opens a new thread that takes along a short summary. */
export const threadHandoff: Run = async (invocation) => {
  const mode = modeIn(invocation)
  const choices = { ...(await summarizerIn(invocation)), ...budgetIn(invocation) }
  const summary = await ownSummary(invocation)
  await using opened = await openForThreads(invocation)
  const { batonpass } = opened
  const { threads } = batonpass
  const { parent, isGuess } = await sourceOf(invocation, batonpass.history)
  if (mode === 'without') {
    if (isGuess) throw unseenGuess(invocation, parent, '--without')
    return await fresh(invocation, batonpass, parent)
  }
  const workspace = textFlag(invocation, 'workspace') === undefined ? conversationFolder(parent) : undefined
  const shown = new ShownDraft(invocation, batonpass, parent.id)
  const draft = mode === 'apply' ? shown.toApply() : undefined
  if (mode === 'apply' && isGuess && draft === undefined) throw unseenGuess(invocation, parent, '--apply')
  const words = summary ?? draft?.summary.text
  const request = defined({ summary: words, file: textFlag(invocation, 'file'), ...choices })
  const place = (workspace && workspaceOf(workspace)) ?? workspaceIn(invocation)
  const drawn = await threads.preview({ conversation: parent.id, workspace: place, ...request })
  const made = drawn.ok && draft !== undefined ? ok(await shown.inPlaceOf(drawn.value, draft)) : drawn
  const drafted = made.ok ? await withFeedback(invocation, batonpass, { draft: made.value, choices }) : made
  if (!drafted.ok) return await insteadOf(invocation, batonpass, { parent, refusal: drafted.error })
  if (mode === 'preview') return await preview(invocation, drafted.value, shown)
  if (mode === 'ask') return await approve(invocation, batonpass, { draft: drafted.value, choices })
  mustBePlaced(invocation, drafted.value)
  await apply(
    invocation,
    batonpass,
    mode === 'edit' ? await edited(invocation, batonpass, drafted.value) : drafted.value,
  )
  shown.forget()
}

/** A guess is fine where a person sees it before anything is written. A script, or somebody who saw nothing, names what is meant. */
const unseenGuess = ({ hint }: Invocation, parent: Conversation, mode: string): CommandNotCompleted =>
  new CommandNotCompleted(
    plain(
      `Nobody has said which conversation is meant, so nothing was written. The latest one here is "${titleOf(parent)}": ` +
        hint(`baton thread handoff ${mode} --from ${parent.id}`),
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

const preview = async (invocation: Invocation, draft: ThreadDraft, shown: ShownDraft): Promise<void> => {
  const { out, values } = invocation
  const problem = await shown.keep(draft)
  if (values.json === true) return out.line(toJson(draft))
  showDraft(out, draft)
  out.line(`Nothing was written into ${plain(draft.target.file)}. --summary FILE takes a text of your own.`)
  if (problem === undefined) out.line('To open the thread with exactly these words:')
  else
    out.line(`These words could not be kept (${plain(problem)}). To open the thread with a summary that is made anew:`)
  out.line(plain(`  ${applyCommand(invocation, draft)}`))
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

/** The token of the session is not shown: the process that begins the thread gets one of its own. */
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

/** A draft, and how it is refined. */
interface Proposal {
  readonly draft: ThreadDraft
  readonly choices: Parameters<Batonpass['threads']['refine']>[2]
}

const QUESTION = '[a]ccept, [e]dit, [r]efine, re[j]ect (a new thread without a summary), or [q]uit? '

/** Shows a summary to the person and asks, until it is accepted, rejected or left. */
export const approve = async (invocation: Invocation, batonpass: Batonpass, proposal: Proposal): Promise<void> => {
  const { out, ask = async () => undefined } = invocation
  let { draft } = proposal
  showDraft(out, draft)
  for (;;) {
    const answer = (await ask(QUESTION))?.trim().toLowerCase() ?? 'q'
    if (answer === 'q' || answer === 'quit') return out.line('Nothing was written.')
    if (answer === 'j' || answer === 'reject') return reject(invocation, batonpass, draft)
    if (answer === 'a' || answer === 'accept') {
      const placed = await placedBy(invocation, batonpass, draft)
      // Refused, the text is still there to be kept, changed or placed elsewhere.
      if (placed !== undefined && (await accept(invocation, batonpass, placed))) return
      continue
    }
    const changed = await change(invocation, batonpass, { ...proposal, draft }, answer)
    if (changed === undefined) continue
    if (changed.ok) draft = changed.value
    else invocation.notes.line(refusedThread(changed.error).message)
    if (changed.ok) showDraft(out, draft)
  }
}

const change = async (
  { ask, environment, notes }: Invocation,
  { threads }: Batonpass,
  { draft, choices }: Proposal,
  answer: string,
): Promise<Result<ThreadDraft, ThreadRefusal> | undefined> => {
  if (answer === 'e' || answer === 'edit') {
    const text = await editText(draft.summary.text, environment)
    if (text !== undefined) return threads.edit(draft, text)
    notes.line('The editor failed. The summary is as it was.')
    return undefined
  }
  if (answer !== 'r' && answer !== 'refine') return undefined
  const feedback = await ask?.('What should change? ')
  return feedback === undefined || feedback.trim() === '' ? undefined : threads.refine(draft, feedback, choices)
}

/** A file that git keeps is named before anything is written, and another one offered. Undefined when neither is wanted. */
const placedBy = async (
  { ask, notes }: Invocation,
  { threads }: Batonpass,
  draft: ThreadDraft,
): Promise<ThreadDraft | undefined> => {
  const { isTracked, untracked, file } = draft.target
  if (!isTracked) return draft
  notes.line(plain(`${file} is tracked by git, or would be: the summary could end in a commit.`))
  if (untracked !== undefined && isYes(await ask?.(`Use ${untracked} instead, which git leaves alone? (Y/n) `), true))
    return threads.place(draft, untracked)
  if (untracked === undefined)
    notes.line(
      'There is no other file that git leaves alone. For Claude, put CLAUDE.local.md into .gitignore; Codex reads no file of that kind.',
    )
  return isYes(await ask?.(`Write it into ${file} nevertheless? (y/N) `), false) ? draft : undefined
}

const isYes = (answer: string | undefined, otherwise: boolean): boolean => {
  if (answer === undefined) return false
  return answer.trim() === '' ? otherwise : /^y/i.test(answer.trim())
}

/** @returns whether the thread is open */
const accept = async (invocation: Invocation, { threads }: Batonpass, draft: ThreadDraft): Promise<boolean> => {
  const opened = await threads.accept(draft, openingIn(invocation))
  if (opened.ok) showAccepted(invocation, draft, opened.value)
  else invocation.notes.line(refusedThread(opened.error).message)
  return opened.ok
}

const reject = async (invocation: Invocation, { threads }: Batonpass, draft: ThreadDraft): Promise<void> => {
  const { conversation } = accepted(await threads.reject(draft, openingIn(invocation)))
  invocation.out.line(plain(`A new thread without a summary is open: conversation ${conversation.id}.`))
}
