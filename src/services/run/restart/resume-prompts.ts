import type { RunInProgress } from '../run-in-progress.ts'

/** The message to an agent that is resumed in a session whose process was lost. */
export const RESUME_AFTER_LOSS =
  'The process that ran this session was lost, and you go on in it now. Something you began may not have been finished: ' +
  'look at what is there before you repeat a step, then continue the task.'

/** Said to an agent that is resumed in a session in which it was stopped, when nothing new is asked of it. */
export const RESUME_WHERE_STOPPED =
  'You were stopped here before the task was finished. Continue where you stopped: something you began may be half done, ' +
  'so look at that first. Do not begin again from the start.'

/** How our questions for a checkpoint, and our continuations, can be told: by their tags and fences. */
const OUR_TAGS = /<checkpoint>|<(?:checkpoint|document|words|answer|recap|hooks)-[0-9a-z-]{16,}>/i

/**
 * Whether a text that a runtime wrote down as a user's is one of ours. Its launch may not be on record: a process can die
 * between asking an agent and recording what it was asked.
 */
export const isPromptOfOurs = (run: Pick<RunInProgress, 'setting'>, text: string): boolean => {
  const template = run.setting('template')
  const [question = ''] = typeof template === 'string' ? template.split('{') : []
  const isWhatWeSay = [RESUME_AFTER_LOSS, RESUME_WHERE_STOPPED].some((ours) => text.startsWith(ours))
  return isWhatWeSay || OUR_TAGS.test(text) || (question.trim() !== '' && text.startsWith(question))
}
