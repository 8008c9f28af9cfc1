import type { HookSettings } from '../../src/entry/hooks.ts'
import { type Plan, POINT_NAMES, POINTS, type Point, type PointName } from '../kill/kill-point.ts'
import { bash, RUNTIMES, uses } from './claude-stage.ts'
import type { Answer, Body } from './messages-api.ts'
import { never } from './patience.ts'

/** One place of the grid: which runtime, whether hooks are set, and where its runner is killed. */
export interface Cell {
  readonly backend: string
  readonly hasHooks: boolean
  readonly point: PointName
}

/** The whole grid. */
export const CELLS: readonly Cell[] = POINT_NAMES.flatMap((point) =>
  Object.keys(RUNTIMES).flatMap((backend) => [false, true].map((hasHooks) => ({ backend, hasHooks, point }))),
)

/** Some of it, for every day: each runtime with and without hooks, and the points where most can be lost. */
export const SELECTION: readonly Cell[] = [
  { backend: 'claude_agent_sdk', hasHooks: false, point: 'before the turn that crosses' },
  { backend: 'claude_code', hasHooks: false, point: 'asked for the checkpoint' },
  { backend: 'claude_agent_sdk', hasHooks: true, point: 'the handoff is completed' },
  { backend: 'claude_code', hasHooks: true, point: 'the first turn is recorded' },
]

/** What a cell is called. */
export const nameOf = ({ backend, hasHooks, point }: Cell): string =>
  `${point}, ${backend}, hooks ${hasHooks ? 'on' : 'off'}`

export const TASK = 'Say the words quokka, wombat and numbat, one after the other.'
/** Words of the built-in request for a checkpoint. */
export const ASKS = 'Reply with the checkpoint alone'
export const CHECKPOINT = '<checkpoint>\n## Completed work\n- Said quokka and wombat\n</checkpoint>'
export const DONE = 'Quokka, wombat, numbat.'

export const EMPTY = uses(12, 20_000, 0, 40)
export const FULL = uses(10, 1_000, 170_000, 60)

/** The tool that says a word: it writes it down, so that what ran is known whoever else has heard of it. */
export const says = (word: string) => bash(`echo ${word} >> ran; echo heard-${word}`)
export const WORDS = ['quokka', 'wombat', 'numbat'] as const

/** Whether a lost session was resumed after it had called this, and not before. */
export const isResumedAfter = (call: string, known: string): boolean =>
  known.indexOf('The process that ran this session was lost') > known.lastIndexOf(call)

/**
 * What is answered goes by what the asker knows, and not by how often it was asked: whoever resumes a session asks again.
 * The second tool of the first window fills it; its third answer comes only to whoever resumes it after that tool. Anybody
 * else is interrupted instead: an answer at once would race with the interruption, and an agent that is done is not restarted.
 */
export const answerTo = ({ messages }: Body): Answer => {
  const known = JSON.stringify(messages)
  // Whoever was lost after the last word is asked to go on, and has nothing to add.
  if (known.includes(DONE)) return { text: 'All of it was said.', usage: EMPTY }
  const knows = (word: string): boolean => known.includes(`heard-${word}`) || known.includes(`echo ${word} >>`)
  if (known.includes('fresh window'))
    return knows('numbat') ? { text: DONE, usage: uses(9, 300, 20_000, 50) } : { tool: says('numbat'), usage: EMPTY }
  if (!knows('quokka')) return { tool: says('quokka'), usage: EMPTY }
  if (!knows('wombat')) return { tool: says('wombat'), usage: FULL }
  return isResumedAfter('echo wombat >>', known)
    ? { text: DONE, usage: FULL }
    : { text: 'This should not be needed.', usage: FULL, after: never }
}

/** Where the runner of a cell ends itself. */
export const planOf = ({ point }: Cell): Plan => {
  const windows = [
    [1, 1],
    [1, 0],
  ].map((tools) => tools.map((count) => ({ promptTokens: 0, tools: count })))
  const { only }: Point = POINTS[point]
  const kind = { takesSessionId: true, canResume: true, isAnnounced: true }
  return { key: 'grid', seed: 1, point, occurrence: only?.({ windows }) ?? 1, windows, ...kind }
}

/** The hooks of a cell. A new session that a hook wants gets no checkpoint; one that fails leaves it to the runner. */
export const hooksOf = ({ hasHooks, point }: Cell): readonly HookSettings[] => {
  const hook = (moment: HookSettings['moment'], run: () => unknown): HookSettings => ({
    ...{ type: 'function', moment, name: moment, shouldContinueOnError: true, timeoutMs: 600_000, run },
  })
  const fail = (): never => {
    throw new Error('It has no say')
  }
  const decides = point === 'asked for the checkpoint' ? fail : () => undefined
  return hasHooks
    ? [
        hook('on_session_start', () => 'Only marsupials count.'),
        hook('on_context_threshold', decides),
        hook('after_handoff', () => undefined),
        hook('after_run', () => undefined),
      ]
    : []
}
