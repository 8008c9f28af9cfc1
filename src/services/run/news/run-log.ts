import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { describeFreshReason } from '../../../domain/run/follow-up.ts'
import { levelInFigures, type RunEvent, type RunEventType, type WindowFigures } from '../../../domain/run/run-event.ts'
import type { RunOutcome } from '../../../domain/run/run-summary.ts'
import { percentOf } from '../../../domain/window/window-level.ts'
import type { LogFields, Logger, LogLevel } from '../../../ports/system/logger.ts'
import type { Trouble } from '../retry-through-outage.ts'

/** A line of the log. */
interface Line {
  readonly level: LogLevel
  readonly message: string
}

type Lines = { readonly [Type in RunEventType]: (event: Extract<RunEvent, { type: Type }>) => Line }

const line = (level: LogLevel, message: string): Line => ({ level, message })

const percent = (figures: WindowFigures): string => {
  const level = levelInFigures(figures)
  return level === undefined ? 'an unknown share' : `${percentOf(level.ratio)} %`
}

/** The line of each event, with its level. */
const LINES: Lines = {
  'session:start': ({ epoch }) => line('info', `session ${epoch} begins`),
  'conversation:follow_up': ({ freshBecause }) =>
    freshBecause === null
      ? line('info', 'the follow-up resumes the session of the runtime')
      : line('info', `the follow-up starts in a fresh window: ${describeFreshReason(freshBecause)}`),
  'session:end': ({ state }) => line(state === 'failed' ? 'warn' : 'info', `the session is ${state}`),
  'session:replaced': () => line('warn', 'somebody else works the session now'),
  'runner:gone': () => line('warn', 'the process that ran the session has ended, so its lease is not waited for'),
  'process:left': ({ fate }) =>
    fate === 'ended'
      ? line('warn', 'an agent that a lost runner had left at work was ended')
      : line('warn', 'an agent of a lost runner may still be at work elsewhere'),
  'turn:recorded': ({ turn }) => line('debug', `turn ${turn} is recorded`),
  'tool:refused': ({ toolName }) => line('warn', `the runtime refused the tool ${toolName}: nobody has allowed it`),
  'context:milestone': (event) => line('info', `milestone ${event.milestone} at ${percent(event)} of the window`),
  'context:landing': (event) => line('info', `the agent is told to land, at ${percent(event)} of the window`),
  // A debug line only: the command that records a compaction warns of it, in a run and outside of one.
  'context:compaction': ({ trigger }) => line('debug', `the runtime made room by itself (${trigger})`),
  'context:window:lowered': ({ toTokens }) =>
    line('warn', `the runtime made room by itself, so the window counts as ${toTokens} tokens from now on`),
  'context:window:unknown': () => line('warn', 'nobody knows how full the window is, so it is never restarted for it'),
  'context:handoff:start': (event) => line('info', `a restart begins at ${percent(event)} of the window`),
  'context:handoff:checkpoint': ({ outcome }) =>
    line(outcome === 'kept' ? 'info' : 'warn', `the checkpoint: ${outcome.replace('_', ' ')}`),
  'context:handoff:complete': (event) =>
    line('info', `restart ${event.handoffNumber}, begun at ${percent(event)} of the window, is done`),
  'agent:handoff:start': ({ fromAgent, toAgent }) => line('info', `${fromAgent} hands the work to ${toAgent}`),
  'agent:handoff:complete': ({ toAgent }) => line('info', `${toAgent} works now`),
  'agent:handoff:left': ({ toAgent }) => line('info', `the work waits for ${toAgent}, who takes no part in this run`),
  'thread:start': ({ fromAgent, toAgent }) => line('info', `${fromAgent} delegates a piece of the work to ${toAgent}`),
  'thread:end': ({ toAgent, outcome }) =>
    line(outcome === 'completed' ? 'info' : 'warn', `the thread of ${toAgent} has ended: ${outcome}`),
  'context:handoff:cancelled': () => line('warn', 'the restart was cancelled'),
  'context:restart:refused': ({ limit }) => line('warn', `the budget allows no restart (${limit})`),
  'budget:reached': ({ limit }) => line('warn', `a limit is reached (${limit}), so nothing more is launched`),
  'run:warning': ({ message }) => line('warn', message),
  'hook:called': ({ hook, error }) =>
    error === null
      ? line('debug', `hook ${hook} was called`)
      : line('warn', `hook ${hook} has failed: ${error.message}`),
  'run:end': ({ summary }) => line(LEVEL_OF[summary.outcome], `the run is over: ${summary.outcome.replace('_', ' ')}`),
}

const LEVEL_OF = {
  completed: 'info',
  cancelled: 'info',
  failed: 'error',
  timed_out: 'error',
  exhausted: 'error',
  superseded: 'warn',
  handed_over: 'info',
  writes_refused: 'warn',
} as const satisfies Record<RunOutcome, LogLevel>

/** Logs what happens in a run, from its events and its outages. */
export class RunLog {
  readonly #logger: Logger | undefined
  readonly #logged = new Set<string>()

  constructor(logger: Logger | undefined) {
    this.#logger = logger
  }

  take(event: RunEvent): void {
    const { type, version: _, ...fields } = event
    const { level, message } = (LINES[type] as (event: RunEvent) => Line)(event)
    this.#logger?.[level]({ event: type, ...fields }, message)
  }

  /** Warns, once per session, that the level of its window is unknown: until it is known there is no restart. */
  missing(what: keyof typeof MISSING, fields: LogFields & { readonly sessionId: AgentSessionId }): void {
    const key = `${what} ${fields.sessionId}`
    if (this.#logged.has(key)) return
    this.#logged.add(key)
    this.#logger?.warn({ missing: what, ...fields }, MISSING[what])
  }

  /** Logs that the store does not answer, and whether the run tries again. */
  outage(trouble: Trouble): void {
    const { isGivenUp, ...fields } = trouble
    if (isGivenUp) this.#logger?.error(fields, 'the store stays away, so it is not waited for any longer')
    else this.#logger?.warn(fields, 'the store is away, and is tried again')
  }
}

const MISSING = {
  usage: 'the runtime does not say what an answer used, so how full the window is cannot be told',
} as const
