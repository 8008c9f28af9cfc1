import { readFileSync } from 'node:fs'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { Result } from '../../../domain/kernel/result.ts'
import { isSummaryBudget, SUMMARY_TOKENS } from '../../../domain/summary/thread-summary.ts'
import { describeThreadRefusal, type ThreadRefusal } from '../../../domain/thread/thread-refusal.ts'
import { sessionAround } from '../../../main/runtimes.ts'
import type { Summarizer } from '../../../ports/agent/summarizer.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import type { AcceptOptions } from '../../../services/thread/thread-requests.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { conversationFolder } from '../render/conversation-rows.ts'
import { plain } from '../render/text.ts'
import { notFound, parsedFlag, textFlag } from './flag-values.ts'
import { openFor } from './opened-store.ts'
import { configurationFrom } from './run-choices.ts'
import { conversationOf, namesSubject, subjectIn } from './subject.ts'

/** How a thread handoff is carried out. */
export type ThreadMode = 'preview' | 'apply' | 'edit' | 'without' | 'ask'

const MODES = ['preview', 'apply', 'edit', 'without'] as const

/** The way that the flags choose; on a terminal the person is asked unless one is named. @throws UsageError */
export const modeIn = ({ values, ask }: Invocation): ThreadMode => {
  const named = MODES.filter((mode) => values[mode] === true)
  const [mode, another] = named
  if (another !== undefined) throw new UsageError(`--${mode} and --${another} do not go together.`)
  if (mode === 'edit' && ask === undefined)
    throw new UsageError('--edit needs a terminal. Write the summary to a file, and say --apply --summary FILE.')
  if (mode === undefined && ask === undefined)
    throw new UsageError('Nobody can be asked here. Say --preview, --apply or --without.')
  const chosen = mode ?? 'ask'
  if (values['as-shown'] === true && chosen !== 'apply')
    throw new UsageError('--as-shown goes with --apply: it takes the words that --preview showed.')
  for (const flag of OF_MODEL)
    if (values.summary !== undefined && values[flag] !== undefined)
      throw new UsageError(`--${flag} does not go with --summary, which is your own text.`)
  for (const flag of ['summary', 'file', ...OF_MODEL])
    if (chosen === 'without' && values[flag] !== undefined)
      throw new UsageError(`--${flag} does not go with --without: there is no summary then.`)
  return chosen
}

/** Whether the flags ask for a summary, instead of the one that was shown. */
export const asksForSummary = ({ values }: Invocation): boolean =>
  ['summary', ...OF_MODEL].some((flag) => values[flag] !== undefined)

/** Flags about a summary that somebody is to write. */
const OF_MODEL = ['feedback', 'model', 'extractive', 'budget'] as const

/** How the thread is opened. */
export const openingIn = (invocation: Invocation): AcceptOptions =>
  defined({ key: textFlag(invocation, 'to-key'), task: textFlag(invocation, 'task') })

/** The summary that somebody wrote, if one is given. */
export const ownSummary = async (invocation: Invocation): Promise<string | undefined> => {
  const file = textFlag(invocation, 'summary')
  if (file === undefined) return undefined
  if (file === '-') return invocation.input()
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`${plain(file)} cannot be read. Name a file, or "-" for standard input.`, { cause })
  }
}

/** The summarizer that the flags name; that of the configuration unless one is named. */
export const summarizerIn = async (invocation: Invocation): Promise<{ readonly summarizer?: Summarizer }> => {
  const model = textFlag(invocation, 'model')
  if (model !== undefined && invocation.values.extractive === true)
    throw new UsageError('--model and --extractive do not go together.')
  if (model !== undefined)
    return { summarizer: await (await import('../../../main/runtimes.ts')).summarizerNamed(model) }
  return invocation.values.extractive === true
    ? { summarizer: (await import('../../summary/summarizers.ts')).extractiveSummarizer }
    : {}
}

/** The most tokens of the summary. */
export const budgetIn = (invocation: Invocation): { readonly budgetTokens?: number } =>
  defined({
    budgetTokens: parsedFlag(invocation, 'budget', (text) => {
      if (/^\d+$/.test(text) && isSummaryBudget(Number(text))) return Number(text)
      throw new TypeError(`it must be a number from ${SUMMARY_TOKENS.least} to ${SUMMARY_TOKENS.most}.`)
    }),
  })

/** As many sessions are looked at for one that worked here. */
const MOST_SESSIONS = 100

/** The conversation that a thread is to continue. */
export interface ThreadSource {
  readonly parent: Conversation
  /** Whether nobody named it: it is the latest one here. */
  readonly isGuess: boolean
}

/** The conversation that a thread is to continue: named, the one the command was typed in, or the latest one here. */
export const sourceOf = async (invocation: Invocation, history: HandoffHistory): Promise<ThreadSource> => {
  const meant = (await named(invocation, history)) ?? (await around(invocation, history))
  const id = meant ?? (await latest(invocation, history))
  const parent = id && (await history.conversation(id))
  if (parent === undefined)
    throw notFound('conversation', 'none has worked in this workspace. Name one by its key or id')
  return { parent, isGuess: meant === undefined }
}

const named = async (invocation: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const subject = subjectIn(invocation, { kinds: ['conversation', 'session'], flag: 'from', isChange: true })
  const isNamed = namesSubject(invocation) || invocation.values.from !== undefined
  return isNamed ? conversationOf(history, await subject(history)) : undefined
}

/** The conversation of the agent's session that the command was typed in. */
const around = async ({ environment }: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const session = sessionAround(environment)
  if (session === undefined || session.trim() === '') return undefined
  return (await history.sessionsOfProvider(session)).at(-1)?.conversationId
}

const latest = async (invocation: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const workspace = workspaceIn(invocation)
  const seen = new Set<ConversationId>()
  const { items } = await history.listSessions({ order: 'newest_first' }, { limit: MOST_SESSIONS })
  for (const { conversationId: id, progress } of items) {
    if (seen.has(id) || progress.turns === 0) continue
    seen.add(id)
    const place = conversationFolder(await history.conversation(id))
    if (place !== undefined && workspaceOf(place) === workspace) return id
  }
  return undefined
}

/** Opens the store of a command about threads, as the configuration that the flags name says. */
export const openForThreads = async (invocation: Invocation) =>
  openFor(invocation, { part: 'threads', to: 'read', checked: await configurationFrom(invocation) })

/** The workspace that the flags name, or the one around the working directory. @throws UsageError */
export const workspaceIn = (invocation: Invocation): string => {
  const found = workspaceOf(textFlag(invocation, 'workspace') ?? process.cwd())
  if (found === undefined) throw new UsageError('--workspace names no folder that is there. Give its whole path.')
  return found
}

/** The answer, or the refusal as the end of the command. @throws CommandNotCompleted */
export const accepted = <T>(result: Result<T, ThreadRefusal>): T => {
  if (result.ok) return result.value
  throw refusedThread(result.error)
}

/** A refusal of a thread handoff as the end of a command. */
export const refusedThread = (refusal: ThreadRefusal): CommandNotCompleted =>
  new CommandNotCompleted(`${plain(describeThreadRefusal(refusal))} (${refusal.code})`, EXIT.refused)
