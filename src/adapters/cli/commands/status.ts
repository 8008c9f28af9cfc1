import { setTimeout as pause } from 'node:timers/promises'
import { defined } from '../../../domain/kernel/defined.ts'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { findService, nodeProcesses } from '../../../main/doctor.ts'
import { readHidden } from '../../../main/redaction.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { readWorkStatus, type SessionNow, type WorkStatus } from '../../../services/history/work-status.ts'
import { agentOf } from '../../hook-client/agent-process.ts'
import { listPending, type PendingFound } from '../../hook-client/waiting-document.ts'
import { openFor } from '../choose/opened-store.ts'
import { type CommandService, serviceToUse } from '../choose/store-options.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { type StatusFrame, statusDocument } from '../render/status-facts.ts'
import { LevelTrails, renderStatus } from '../render/status-lines.ts'
import { describeStore } from '../render/store-name.ts'
import { toJson, toJsonLine } from '../render/text.ts'
import { writeSpans } from '../terminal/style.ts'

const DEFAULT_SECONDS = 2
const MOST_SECONDS = 3_600

/** Shows what runs now, once or again and again. */
export const statusCommand: Run = async (invocation) => {
  const everyMs = watchedEvery(invocation)
  const place = serviceToUse(invocation)
  await using looker = new Looker(place, invocation)
  if (everyMs !== undefined) return watch(looker, everyMs, invocation)
  const frame = await looker.look()
  const { out, values, hint } = invocation
  if (values.json === true) return out.line(toJson(statusDocument(frame)))
  for (const line of renderStatus(frame, Date.now(), out.columns, undefined, hint)) writeSpans(out, line)
}

const openStatusStore = (invocation: Invocation, { store }: CommandService) =>
  openFor(invocation, { part: 'store', to: 'read', chosen: store })

/** Looks at one store, which is opened when it is there and stays open from then on. */
class Looker implements AsyncDisposable {
  readonly #place: CommandService
  readonly #invocation: Invocation
  #opened: Awaited<ReturnType<typeof openStatusStore>> | undefined

  constructor(place: CommandService, invocation: Invocation) {
    this.#place = place
    this.#invocation = invocation
  }

  /** @throws StoreFailure unless the store only is not there yet */
  async look(): Promise<StatusFrame> {
    const { folder, store } = this.#place
    const [service, found] = await Promise.all([findService(folder), this.#work()])
    const [secrets, documents] = [readHidden(folder), listPending(folder)]
    const work = found && {
      ...found,
      sessions: found.sessions.map((session) => withTerminal(session, documents, folder)),
    }
    return defined({ store: describeStore(store), service, secrets, documents, work })
  }

  /** The same, with a failure as one more thing to show: a watch waits until it passes. */
  async lookAgain(): Promise<StatusFrame> {
    try {
      return await this.look()
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      const service = await findService(this.#place.folder)
      return { store: describeStore(this.#place.store), service, problem: onOneLine(describeThrown(error)) }
    }
  }

  async #work(): Promise<WorkStatus | undefined> {
    try {
      this.#opened ??= await openStatusStore(this.#invocation, this.#place)
    } catch (error) {
      if (error instanceof StoreFailure && error.code === 'store.missing') return undefined
      throw error
    }
    return readWorkStatus({ store: this.#opened.store, processes: nodeProcesses })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]()
  }
}

/** A session, and whether its terminal was closed: it is gone, or it ended and left a document. */
const withTerminal = (now: SessionNow, documents: readonly PendingFound[], folder: string): SessionNow => {
  const { providerSessionId: id } = now.session
  const presence = id === undefined ? 'live' : agentOf(folder, id)
  const hasLeft = documents.some(({ providerSessionId }) => providerSessionId === id)
  return { ...now, isClosed: presence === 'gone' || (presence === 'unknown' && hasLeft) }
}

/** Draws until it is interrupted: in place on a terminal, one block after the other elsewhere. */
const watch = async (looker: Looker, everyMs: number, invocation: Invocation): Promise<void> => {
  const { out, values, hint } = invocation
  const isJson = values.json === true
  const trails = new LevelTrails()
  const interruption = invocation.interruption()
  const interrupted = new Promise<undefined>((resolve) => {
    interruption.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  // The first look may warn of something, which the screen would hide.
  let frame = await Promise.race([looker.look(), interrupted])
  const screen = isJson || frame === undefined ? undefined : out.screen?.()
  try {
    for (let isFirst = true; frame !== undefined && !interruption.aborted; isFirst = false) {
      if (isJson) out.line(toJsonLine(statusDocument(frame)))
      else {
        // A store that cannot be read for a moment takes nothing away.
        if (frame.work !== undefined) trails.see(frame.work.sessions)
        const lines = renderStatus(frame, Date.now(), out.columns, trails, hint)
        if (screen !== undefined) screen.draw([...lines, [], [{ text: watchingText(everyMs) }]])
        else {
          if (!isFirst) out.line(SEPARATOR)
          for (const line of lines) writeSpans(out, line)
        }
      }
      await pause(everyMs, undefined, { signal: interruption }).catch(() => {})
      frame = interruption.aborted ? undefined : await Promise.race([looker.lookAgain(), interrupted])
    }
  } finally {
    screen?.leave()
  }
}

const SEPARATOR = '-'.repeat(40)

const watchingText = (everyMs: number): string =>
  `${new Date().toISOString().slice(0, 19)}Z, every ${everyMs / 1_000} s; Ctrl-C ends it`

/** How often to look again, or not at all. */
const watchedEvery = ({ values: { watch } }: Invocation): number | undefined => {
  if (watch === undefined) return undefined
  if (watch === true) return DEFAULT_SECONDS * 1_000
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(String(watch)) ? Number(watch) : 0
  if (seconds < 0.1 || seconds > MOST_SECONDS)
    throw new UsageError(
      `--watch cannot be "${String(watch)}": say every how many seconds, from 0.1 to ${MOST_SECONDS}.`,
    )
  return seconds * 1_000
}
