import type { Result } from '../../../domain/kernel/result.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import type { ThreadRefusal } from '../../../domain/thread/thread-refusal.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { editText } from '../../../processes/edit-text.ts'
import { plain } from '../render/render-text.ts'
import { showAccepted, showDraft } from '../render/render-thread.ts'
import type { Invocation } from '../tree/command.ts'
import { openingIn } from './thread-choices.ts'
import { accepted, refusedThread } from './with-threads.ts'

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
