import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pendingFiles } from '../../src/adapters/terminal/pending-files.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import { BUILT_IN_REDACTION } from '../../src/domain/secrets/redaction-settings.ts'
import { redactorFor } from '../../src/main/redaction.ts'
import { type Terminals as Opened, terminalsOn } from '../../src/main/terminals.ts'
import type { HookAnswer, HookEventName, HookInput } from '../../src/services/terminal/hook-event.ts'
import { Transcript } from '../../test/terminal/transcripts.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'

/** Terminals as people use them: each action is reported by the hooks of its agent. */
export class Terminals {
  readonly #stage: Stage
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'terminals-')))
  /** The folder that all of them work in. */
  readonly #workspace = join(this.#folder, 'workspace')
  /** The texts that terminals began with, by name. */
  readonly #begun = new Map<string, string | undefined>()
  readonly #notices = new Map<string, string | undefined>()
  readonly #ids = new Map<string, string>()
  readonly #transcripts = new Map<string, Transcript>()
  #terminals: Opened | undefined
  #current = ''
  #seconds = 0
  /** The answer to the last hook. */
  answer: HookAnswer | undefined

  constructor(stage: Stage) {
    this.#stage = stage
    mkdirSync(this.#workspace)
  }

  /** The sentence for the person at the last start. */
  get notice(): string | undefined {
    return this.#notices.get(this.#current)
  }

  /** The folder that all of them work in. */
  get workspace(): string {
    return this.#workspace
  }

  /** The key of a terminal's conversation. */
  keyOf(name: string): string {
    return `claude:${this.idOf(name)}`
  }

  async start(name: string, source = 'startup', more: Partial<HookInput> = {}): Promise<void> {
    this.#current = name
    const { inject, notice } = await this.#hook('session-start', { source, ...more }, name)
    this.#begun.set(name, inject)
    this.#notices.set(name, notice)
  }

  /** The terminal that started first. */
  get first(): string {
    return need([...this.#begun.keys()][0], 'a terminal')
  }

  /** The text that a terminal was given at its last start. */
  begunWith(name: string): string | undefined {
    return this.#begun.get(name)
  }

  /** The sentence that the person at a terminal was told at its last start. */
  noticeFor(name: string): string | undefined {
    return this.#notices.get(name)
  }

  /** A person says something, and the agent answers it. */
  async exchange(prompt: string, name = this.#current): Promise<void> {
    await this.#hook('user-prompt-submit', { prompt }, name)
    const transcript = this.#transcriptOf(name)
    transcript.prompts(prompt)
    transcript.answers('Understood.', 20_000)
    await this.#hook('stop', {}, name)
  }

  async withdraw(): Promise<void> {
    const { requests } = await this.#open()
    const waiting = need(await this.waiting(), 'a document that waits')
    const withdrawn = await requests.withdraw(waiting.providerSessionId)
    if (!withdrawn.ok) throw new Error(`It was not withdrawn: ${withdrawn.error.code}`)
  }

  /** The document that waits in the workspace, as the files of the service have it. */
  async waiting() {
    return (await pendingFiles(join(this.#folder, 'terminals'), ['claude', 'codex'])).readPending(this.#workspace)
  }

  async startChild(name: string, parent: string): Promise<void> {
    const parentSessionId = need((await this.#sessionOf(parent))?.id, 'a session')
    await this.start(name, 'startup', { parentSessionId })
  }

  async restartService(): Promise<void> {
    await this.#terminals?.close()
    this.#terminals = undefined
  }

  async end(name: string, reason = 'other'): Promise<void> {
    await this.#hook('session-end', { reason }, name)
  }

  async clear(name: string, next: string): Promise<void> {
    await this.end(name, 'clear')
    await this.start(next, 'clear')
  }

  /** The percentage is of what can be used before the runtime compacts, 167,000 of 200,000 tokens. */
  async draw(name: string, percent: number): Promise<void> {
    const used_percentage = (percent * 167_000) / 200_000
    const context_window = { context_window_size: 200_000, used_percentage, current_usage: null }
    await this.#hook('statusline', { raw: { context_window } }, name)
  }

  async ask(): Promise<void> {
    const { signals } = await this.#hook('user-prompt-submit', { prompt: 'What is next?' })
    await this.#hook('ack', { signals: signals.map(({ id }) => id) })
  }

  async stop(): Promise<void> {
    await this.#hook('stop')
  }

  /** Every hook tells of it, and the transcript does. */
  async compact(name: string, tokens = 155_000): Promise<void> {
    await this.#hook('pre-compact', { trigger: 'auto' }, name)
    this.#transcriptOf(name).compacts(tokens)
    await this.start(name, 'compact')
    for (const _ of [1, 2]) await this.#hook('post-compact', { trigger: 'auto' }, name)
  }

  answers(text: string, tokens: number): void {
    const transcript = this.#transcriptOf(this.#current)
    transcript.prompts('Go on')
    transcript.answers(text, tokens)
  }

  async stops(name: string): Promise<void> {
    await this.#hook('stop', {}, name)
  }

  async requestHandoff(document: string, targetAgent?: string): Promise<void> {
    const { requests } = await this.#open()
    const about = defined({ document, reason: 'The window is full', targetAgent })
    const asked = await requests.handoff(this.idOf(this.#current), about)
    if (!asked.ok) throw new Error(`The handoff was refused: ${asked.error.code}`)
  }

  async close(): Promise<void> {
    await this.restartService()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }

  async #hook(event: HookEventName, input: Partial<HookInput> = {}, name = this.#current): Promise<HookAnswer> {
    this.#seconds += 1
    const { terminals } = await this.#open()
    const transcriptPath = this.#transcriptOf(name).path
    const known = { providerSessionId: this.idOf(name), transcriptPath, cwd: this.#workspace, raw: {} }
    const at = instant(Date.parse(this.#stage.scene.clock.now()) + this.#seconds * 1_000)
    const command = commandId(randomUUID())
    this.answer = await terminals.take({
      commandId: command,
      at,
      event,
      runtime: 'claude',
      input: { ...known, ...input },
    })
    return this.answer
  }

  async #open(): Promise<Opened> {
    const { scene, faults } = this.#stage
    const { clock, ids } = scene
    const environment = { HOME: this.#folder }
    this.#terminals ??= await terminalsOn({
      store: faults.store,
      clock,
      ids,
      folder: join(this.#folder, 'terminals'),
      environment,
      // As the service has it.
      redact: redactorFor(BUILT_IN_REDACTION, { environment }).redact,
    })
    return this.#terminals
  }

  async #sessionOf(name: string) {
    return (await this.#stage.scene.store.sessions.findByProviderSession(this.idOf(name))).at(-1)
  }

  /** The runtime's name for the session of a terminal. */
  idOf(name: string): string {
    const id = this.#ids.get(name) ?? `${name}-${randomUUID()}`
    this.#ids.set(name, id)
    return id
  }

  #transcriptOf(name: string): Transcript {
    const transcript = this.#transcripts.get(name) ?? new Transcript(this.#folder, this.idOf(name))
    this.#transcripts.set(name, transcript)
    return transcript
  }
}
