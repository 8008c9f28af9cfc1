import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import { type Terminals, terminalsOn } from '../../src/main/terminals.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { TerminalRuntime } from '../../src/ports/terminal/terminal-files.ts'
import type { SessionCard } from '../../src/ports/terminal/wire.ts'
import type { HookAnswer, HookEventName, HookInput } from '../../src/services/terminal/hook-event.ts'
import { FixedClock } from '../../src/testing/fixed-clock.ts'
import { Transcript } from './transcripts.ts'

/** How a stage is made. */
export interface StageOptions {
  readonly store?: Store
  readonly at?: string
  readonly redact?: (text: string) => string
}

/** Terminal sessions on a store in memory, and a home whose transcripts it reads. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'terminals-'))
  readonly home = mkdtempSync(join(tmpdir(), 'home-'))
  /** The folder that its terminals work in. */
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
  readonly store: Store
  readonly id = `p-${randomUUID()}`
  readonly transcript: Transcript
  #opened: Terminals | undefined
  #seconds = 0

  /** A clock that stands still, if the test moves it. */
  readonly clock: FixedClock | undefined

  readonly #redact: StageOptions['redact']

  constructor({ store = new MemoryStore({ clock: systemClock }), at, redact }: StageOptions = {}) {
    this.store = store
    this.#redact = redact
    this.clock = at === undefined ? undefined : new FixedClock(at)
    this.transcript = new Transcript(this.home, this.id)
  }

  async open(): Promise<Terminals> {
    const { store, folder, clock } = this
    const more = { ...(clock && { clock }), ...(this.#redact && { redact: this.#redact }) }
    this.#opened ??= await terminalsOn({ store, folder, environment: { HOME: this.home }, ...more })
    return this.#opened
  }

  /** The service ends and another one begins: nothing in memory is left. */
  async restart(): Promise<void> {
    await this.#opened?.close()
    this.#opened = undefined
  }

  /** The same after the file with the facts about a session was lost. */
  async forgetKept(id = this.id): Promise<void> {
    await this.restart()
    rmSync(join(this.folder, 'kept', `${id}.json`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.restart()
    for (const folder of [this.folder, this.home, this.workspace])
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }

  /** A hook reports; each one a second after the last, unless it says when. */
  async hook(
    event: HookEventName,
    input: Partial<HookInput> = {},
    given: { readonly commandId?: string; readonly second?: number; readonly waitMs?: number } = {},
    runtime: TerminalRuntime = 'claude',
  ): Promise<HookAnswer> {
    this.#seconds += 1
    const { terminals } = await this.open()
    const second = given.second ?? this.#seconds
    return terminals.take({
      commandId: commandId(given.commandId ?? randomUUID()),
      at: instant(Date.parse('2026-11-17T10:00:00.000Z') + second * 1_000),
      event,
      runtime,
      ...(given.waitMs !== undefined && { waitMs: given.waitMs }),
      input: {
        providerSessionId: this.id,
        transcriptPath: this.transcript.path,
        cwd: this.workspace,
        raw: {},
        ...input,
      },
    })
  }

  start(source = 'startup', input: Partial<HookInput> = {}): Promise<HookAnswer> {
    return this.hook('session-start', { source, ...input })
  }

  /** The status line is drawn. */
  draws(usedPercent: number | null, input: Partial<HookInput> = {}): Promise<HookAnswer> {
    return this.hook('statusline', { raw: statusLine(usedPercent), ...input })
  }

  async sessions(id = this.id): Promise<readonly AgentSession[]> {
    return this.store.sessions.findByProviderSession(id)
  }

  async session(): Promise<AgentSession> {
    const found = (await this.sessions()).at(-1)
    if (found === undefined) throw new Error('there is no session')
    return found
  }

  card(id = this.id): SessionCard {
    return JSON.parse(readFileSync(join(this.folder, 'sessions', `${id}.json`), 'utf8')) as SessionCard
  }
}

/** The tokens of a window of 200,000 that Claude Code uses before it compacts. */
export const USABLE = 167_000

/** The input of a status line, as far as it is about the window. The percentage is of what can be used of it. */
export const statusLine = (usedPercent: number | null) => ({
  context_window: {
    context_window_size: 200_000,
    used_percentage: usedPercent === null ? null : (usedPercent * USABLE) / 200_000,
    total_input_tokens: 1_234_567,
    current_usage:
      usedPercent === null
        ? null
        : {
            input_tokens: 10,
            output_tokens: 0,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: (usedPercent * USABLE) / 100 - 10,
          },
  },
})
