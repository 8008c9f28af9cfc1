/** The last line of an agent that has stopped for a fresh window, and not because its task is done. */
const LANDED = '[landed]'

/**
 * The built-in text of a soft landing, which the agent is sent when its window reaches the critical milestone.
 *
 * @example
 * ```ts
 * console.log(DEFAULT_SOFT_LANDING.split('\n')[0])
 * // => Your context window is filling up. Soon a fresh session continues this work, from a checkpoint that you write.
 * ```
 */
export const DEFAULT_SOFT_LANDING = `Your context window is filling up. Soon a fresh session continues this work, from a checkpoint that you write.
Bring the unit of work at hand to an end now: finish the edit or the test that you have begun, and begin nothing large.
Leave the work in a state that a successor can pick up: saved, consistent, nothing half done.`

const STOP_THERE = `When that unit is done and the task is not, stop there and make ${LANDED} the last line of your answer: the fresh session then begins at once. When the whole task is done, answer as usual and leave that line out.`

const GO_ON = 'Then continue the task in small steps. Do not stop before the task is done.'

/**
 * The message to the agent. Where a fresh session can begin as soon as the agent stops, the message asks it to stop
 * with that line; elsewhere an agent that stops counts as done, so the message asks it to continue.
 */
export const softLandingText = (text: string, { mayStop }: { readonly mayStop: boolean }): string =>
  `${text.trimEnd()}\n${mayStop ? STOP_THERE : GO_ON}`

/** Whether an answer ends with the line of an agent that has landed, in any Markdown emphasis. */
export const hasLanded = (answer: string): boolean => {
  const last = answer.slice(-200).trimEnd().split('\n').at(-1) ?? ''
  return last.replaceAll(/[*_`\s]/g, '').toLowerCase() === LANDED
}
