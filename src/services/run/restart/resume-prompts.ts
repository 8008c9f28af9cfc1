import type { RunInProgress } from '../run-in-progress.ts'

/** The first words of {@link RESUME_AFTER_LOSS}, in this version and in earlier ones. */
const PROCESS_WAS_LOST = 'The process that ran this session was lost'

/** The message to an agent that is resumed in a session whose process was lost. */
export const RESUME_AFTER_LOSS =
  `${PROCESS_WAS_LOST}, and you continue in it now. Something you began may not have been finished: ` +
  'look at what is there before you repeat a step, then continue the task.'

/** The message to an agent that is resumed in a session in which it was stopped, when there is no new task. */
export const RESUME_WHERE_STOPPED =
  'You were stopped here before the task was finished. Continue where you stopped: something you began may be half done, ' +
  'so look at that first. Do not begin again from the start.'

/** The tags and fences of our questions for a checkpoint and of our continuations. */
const OUR_TAGS = /<checkpoint>|<(?:checkpoint|document|words|answer|recap|hooks)-[0-9a-z-]{16,}>/i

/**
 * Whether a text that a transcript has as the user's is a prompt of ours. It may not be on record: a process can die
 * after it has sent a prompt and before it has recorded it.
 */
export const isPromptOfOurs = (run: Pick<RunInProgress, 'setting'>, text: string): boolean => {
  const template = run.setting('template')
  const [question = ''] = typeof template === 'string' ? template.split('{') : []
  const isWhatWeSay = [PROCESS_WAS_LOST, RESUME_WHERE_STOPPED].some((ours) => text.startsWith(ours))
  return isWhatWeSay || OUR_TAGS.test(text) || (question.trim() !== '' && text.startsWith(question))
}
