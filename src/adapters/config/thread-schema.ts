import { defined } from '../../domain/kernel/defined.ts'
import { markerProblem } from '../../domain/memory-block/block-markers.ts'
import type { Configuration, ConfigurationSetting } from '../../domain/run/run-configuration.ts'
import { SUMMARY_TOKENS } from '../../domain/summary/thread-summary.ts'
import type { KnownAgents } from './agent-schema.ts'
import type { FoundProblem } from './milestone-settings.ts'
import type { FileContent } from './schema.ts'
import { count, duration, flag, LONGEST_WORK_MS, section, textLike, textValue, word } from './values.ts'

const DAY_MS = 86_400_000

const fileName = textLike(
  (name) => name.trim() !== '' && !/^[\\/]|^[a-z]:/i.test(name) && !name.split(/[\\/]/).includes('..'),
  'the name of a file in the workspace',
  'Write one such as CLAUDE.local.md.',
)

/** Keys about thread handoffs. */
export const threadSchema = ({ summarizers }: KnownAgents) =>
  section({
    summarizer: word(['extractive', ...summarizers]).optional(),
    model: textValue.optional(),
    fallback: flag.optional(),
    file: fileName.optional(),
    markers: section({ begin: textValue, end: textValue }).optional(),
    budget_tokens: count(SUMMARY_TOKENS.least, 'tokens').optional(),
    expires: duration(LONGEST_WORK_MS).optional(),
    offer_at: textValue.optional(),
  })

/** The settings of thread handoffs in force. */
export const threadSettingsOf = ({ threads }: FileContent): Configuration['threads'] =>
  defined({
    summarizer: threads?.summarizer ?? 'extractive',
    model: threads?.model,
    fallback: threads?.fallback ?? true,
    file: threads?.file,
    markers: threads?.markers,
    budgetTokens: threads?.budget_tokens ?? SUMMARY_TOKENS.usual,
    expiresMs: threads?.expires ?? DAY_MS,
    offerAt: threads?.offer_at,
  })

/** Markers that cannot enclose a block, a budget that is too large, and a milestone that is not there. */
export const threadProblems = (
  { threads }: Pick<FileContent, 'threads'>,
  milestones: readonly string[],
): readonly FoundProblem[] => {
  const marked = threads?.markers == null ? undefined : markerProblem(threads.markers)
  const { budget_tokens: tokens = 0, offer_at: offerAt } = threads ?? {}
  const wrong = (key: string, problem: string, advice: string): FoundProblem => ({
    path: ['threads', key],
    problem,
    advice,
  })
  return [
    ...(marked === undefined ? [] : [wrong('markers', marked, 'Write a pair such as <summary> and </summary>.')]),
    ...(tokens <= SUMMARY_TOKENS.most
      ? []
      : [wrong('budget_tokens', `${tokens} is too much for a summary`, `Write ${SUMMARY_TOKENS.most} or less.`)]),
    ...(offerAt === undefined || milestones.includes(offerAt)
      ? []
      : [wrong('offer_at', `there is no milestone "${offerAt}"`, `Use one of: ${milestones.join(', ')}.`)]),
  ]
}

/** The settings of thread handoffs, each with its key. */
export const threadSettings = (
  { summarizer, model, fallback, file, markers, budgetTokens, expiresMs, offerAt }: Configuration['threads'],
  setting: (key: string, value: ConfigurationSetting['value'] | undefined) => ConfigurationSetting,
): readonly ConfigurationSetting[] => [
  setting('threads.summarizer', summarizer),
  setting('threads.model', model),
  setting('threads.fallback', fallback),
  setting('threads.file', file),
  setting('threads.markers', markers && `${markers.begin} ${markers.end}`),
  setting('threads.budget_tokens', budgetTokens),
  setting('threads.expires', expiresMs),
  setting('threads.offer_at', offerAt),
]
