import { readFileSync } from 'node:fs'
import { defined } from '../../../domain/kernel/defined.ts'
import { isSummaryBudget, SUMMARY_TOKENS } from '../../../domain/summary/thread-summary.ts'
import type { Summarizer } from '../../../ports/agent/summarizer.ts'
import type { AcceptOptions } from '../../../services/thread/thread-requests.ts'
import { plain } from '../render/render-text.ts'
import type { Invocation } from '../tree/command.ts'
import { UsageError } from '../tree/problems.ts'
import { parsedFlag, textFlag } from './history-args.ts'

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
    ? { summarizer: (await import('../../summary/extractive-summarizer.ts')).extractiveSummarizer }
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
