import { counted } from '../../../domain/kernel/counted.ts'
import {
  type RunEvent,
  type RunWarningCode,
  UNKNOWN_FIGURES,
  type WindowFigures,
} from '../../../domain/run/run-event.ts'
import { addTotals, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { Output } from '../invocation/output.ts'
import { costText, describeRunEvent, refusedLines, renderFigures } from './run-lines.ts'
import { plain } from './text.ts'

/** Whether somebody should come and look: the run is over, or something waits for a person. */
const needsPerson = (event: RunEvent): boolean =>
  event.type === 'run:end' ||
  event.type === 'agent:handoff:left' ||
  (event.type === 'run:warning' && FOR_PEOPLE.includes(event.code))

/** Warnings that only a person can follow. */
const FOR_PEOPLE: readonly RunWarningCode[] = ['thread.offered', 'thread.waits', 'thread.block_waits']

const TOOLS_SHOWN = 3

/** Shows people the progress of a run: one line that is redrawn on a terminal, a line for each event elsewhere. */
export class RunProgress {
  readonly #notes: Output
  readonly #isSilent: boolean
  #epoch = 0
  #figures: WindowFigures = UNKNOWN_FIGURES
  #isUnknown = false
  #turn = 0
  #tools: readonly string[] = []
  #restarts = 0
  /** The agent that works, once it is not the one that began. */
  #agent: string | undefined
  #compactions = 0
  /** The conversation of the run; the events of its threads are of others. */
  #conversation: string | undefined
  readonly #used = new Map<object, UsageTotals>()
  #totals: UsageTotals = NO_TOTALS

  constructor(notes: Output, { isSilent = false }: { readonly isSilent?: boolean } = {}) {
    this.#notes = notes
    this.#isSilent = isSilent
  }

  take(event: RunEvent): void {
    this.#conversation ??= event.conversationId
    const isOfThread = event.conversationId !== this.#conversation
    if (!isOfThread) this.#follow(event)
    const isInStatus = event.type === 'turn:recorded' || event.type === 'context:milestone'
    const whose = isOfThread ? `[${plain(event.agentName)}] ` : ''
    if (this.#notes.status === undefined || !isInStatus) this.#notes.line(`${whose}${describeRunEvent(event)}`)
    if (event.type === 'run:end') for (const line of refusedLines(event.summary)) this.#notes.line(line)
    this.#notes.status?.(event.type === 'run:end' ? '' : this.statusLine())
    if (!this.#isSilent && needsPerson(event)) this.#notes.bell?.()
  }

  /** Takes the usage of everything that a runtime has launched so far. A run may have several runtimes. */
  used(totals: UsageTotals, by: object = this): void {
    this.#used.set(by, totals)
    this.#totals = [...this.#used.values()].reduce(addTotals, NO_TOTALS)
    this.#notes.status?.(this.statusLine())
  }

  /** Takes the status line away. */
  end(): void {
    this.#notes.status?.('')
  }

  /** Where the run stands, on one line. */
  statusLine(): string {
    const parts = [
      `session ${this.#epoch}`,
      this.#agent === undefined ? '' : plain(this.#agent),
      renderFigures(this.#figures, { isShort: true }),
      this.#isUnknown && this.#figures.usagePercent === null ? 'no restart is possible' : '',
      `turn ${this.#turn}`,
      plain(this.#tools.join(', ')),
      this.#restarts === 0 ? '' : counted(this.#restarts, 'restart'),
      this.#compactions === 0 ? '' : counted(this.#compactions, 'compaction'),
      costText(this.#totals) ?? '',
    ]
    return parts.filter((part) => part !== '').join('  ')
  }

  #follow(event: RunEvent): void {
    switch (event.type) {
      case 'session:start':
        this.#epoch = event.epoch
        this.#turn = 0
        this.#figures = UNKNOWN_FIGURES
        return
      case 'turn:recorded':
        this.#turn = event.turn
        this.#figures = event
        this.#tools = [...this.#tools, ...event.toolCalls.map(({ toolName }) => toolName)].slice(-TOOLS_SHOWN)
        return
      case 'context:window:unknown':
        this.#isUnknown = true
        return
      case 'context:compaction':
        this.#figures = UNKNOWN_FIGURES
        this.#compactions += 1
        return
      case 'context:handoff:complete':
        this.#restarts += 1
        return
      case 'agent:handoff:complete':
        this.#agent = event.toAgent
        return
      default:
        return
    }
  }
}
