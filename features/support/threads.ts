import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileMemoryFiles } from '../../src/adapters/memory-file/file-memory-files.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import { type MemoryBlock, readBlock } from '../../src/domain/memory-block/memory-block.ts'
import type { ThreadDraft } from '../../src/domain/thread/thread-draft.ts'
import { describeThreadRefusal, type ThreadRefusal } from '../../src/domain/thread/thread-refusal.ts'
import { RefusedError, unwrap } from '../../src/domain/unwrap.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'
import { type Batonpass, createBatonpass } from '../../src/main/batonpass.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import type { MemoryFiles } from '../../src/ports/terminal/memory-file.ts'
import type { ThreadSettings } from '../../src/services/thread/thread-deps.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'

const HOUSE = '# House rules\n\nBe kind.\n'
const PARTS =
  '## Objective\nMend the till\n\n## Progress\nHalf\n\n## Next Steps\nThe rest\n\n## Blockers\nNone\n\n## Key files\n- till.ts'

/** People who continue in a new thread, in the folder that all terminals of a scenario work in. */
export class Threads {
  readonly #stage: Stage
  readonly #workspace: string
  readonly #drafts: ThreadDraft[] = []
  readonly #settings: { -readonly [Name in keyof ThreadSettings]: ThreadSettings[Name] } = {}
  readonly #launches = new Map<string, string>()
  #isReadOnly = false
  #isMirrorGone = false
  #batonpass: Batonpass | undefined
  /** The codes of everything that was refused or failed, in order, and the last sentence. */
  readonly refused: string[] = []
  told = ''
  warnings: readonly string[] = []

  constructor(stage: Stage, workspace: string) {
    this.#stage = stage
    this.#workspace = workspace
  }

  get file(): string {
    return join(this.#workspace, 'CLAUDE.md')
  }

  text(): string {
    return readFileSync(this.file, 'utf8')
  }

  block(): MemoryBlock {
    const read = readBlock(this.text())
    if (!read.ok) throw new Error(read.error.code)
    return read.value
  }

  /** The state of the block when the agent of a thread was launched. */
  launchedWith(name: string): string {
    return need(this.#launches.get(name), `a launch in ${name}`)
  }

  draft(number = this.#drafts.length): ThreadDraft {
    return need(this.#drafts[number - 1], `draft ${number}`)
  }

  /** A conversation in which an agent has said and done something. */
  async begin(name: string): Promise<void> {
    writeFileSync(this.file, HOUSE)
    const { service, hands } = this.#stage
    const externalKey = this.#stage.named(name)
    const workspace = { workingDirectory: this.#workspace }
    const { conversation } = unwrap(
      await service.openConversation({ originalTask: 'Mend the till', externalKey, workspace }),
    )
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const working = unwrap(await service.startSession({ conversationId: conversation.id, ...agent }))
    hands.enter(externalKey, conversation.id)
    this.#working = unwrap(await service.recordTurn({ ...working, ...this.#turn('Half of it works.') }))
    this.#holder = working.holder
  }

  #working: { readonly session: Parameters<Batonpass['handoffs']['recordTurn']>[0]['session'] } | undefined
  #holder: Parameters<Batonpass['handoffs']['recordTurn']>[0]['holder'] | undefined

  #turn(text: string) {
    const toolCalls = [{ callId: this.#stage.scene.ids.next(), toolName: 'run_tests' }]
    return { messages: [{ role: 'assistant' as const, text, toolCalls }] }
  }

  /** The agent of the first conversation says more. */
  async workOn(text: string): Promise<void> {
    const { session } = need(this.#working, 'a session')
    const holder = need(this.#holder, 'a holder')
    this.#working = unwrap(await this.#stage.service.recordTurn({ session, holder, ...this.#turn(text) }))
  }

  async preview(name: string): Promise<void> {
    const { threads, history } = await this.#open()
    const { id } = need(await history.conversationByKey(this.#stage.named(name)), name)
    this.#keep(await threads.preview({ conversation: id }))
  }

  async refine(feedback: string): Promise<void> {
    this.#keep(await (await this.#open()).threads.refine(this.draft(), feedback))
  }

  async edit(text: string): Promise<void> {
    this.#keep((await this.#open()).threads.edit(this.draft(), text))
  }

  async accept(name: string, number?: number): Promise<void> {
    const { threads } = await this.#open()
    try {
      const opened = this.#answer(await threads.accept(this.draft(number), { key: this.#stage.named(name) }))
      this.warnings = opened?.warnings ?? []
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      this.refused.push(error.code)
    }
  }

  /** Two people accept their drafts at the same moment. */
  async acceptBoth(...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name, index) => this.accept(name, index + 1)))
  }

  async reject(name: string): Promise<void> {
    this.#answer(await (await this.#open()).threads.reject(this.draft(), { key: this.#stage.named(name) }))
  }

  async continueWithout(parent: string, name: string): Promise<void> {
    const { threads, history } = await this.#open()
    const { id } = need(await history.conversationByKey(this.#stage.named(parent)), parent)
    this.#answer(await threads.without(id, { key: this.#stage.named(name) }))
  }

  /** Runs an agent in a conversation, which is opened if there is none. */
  async run(name: string): Promise<void> {
    const batonpass = await this.#open()
    const onStep = (): void => {
      if (!this.#launches.has(name)) this.#launches.set(name, this.block().state)
    }
    const runtime = new ScriptedRuntime({
      windows: [{ turns: [{ text: 'Done.', tools: ['run_tests'] }, { text: 'At rest.' }] }],
      onStep,
    })
    const workspace = { workingDirectory: this.#workspace }
    const conversation = this.#stage.named(name)
    try {
      await batonpass.run({ runtime, agent: 'claude-code', prompt: 'Continue.', conversation, workspace }).finish()
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      this.#refuse(error.refusal)
    }
  }

  async cleanUp(): Promise<void> {
    await (await this.#open()).threads.cleanup({ workspace: this.#workspace })
  }

  /** Somebody else's editor saves the file. */
  editFile(text: string): void {
    writeFileSync(this.file, `${this.text()}${text}\n`)
  }

  summariesFail(): void {
    this.#settings.fallback = false
    this.#settings.summarizer = { name: 'model', summarize: () => Promise.reject(new Error('the model is away')) }
  }

  summariesByModel(): void {
    this.#settings.summarizer = { name: 'model', summarize: async () => ({ text: PARTS, modelUsed: 'model' }) }
  }

  waitAtMost(expiresMs: number): void {
    this.#settings.expiresMs = expiresMs
  }

  passTime(): void {
    this.#stage.scene.clock.advance(1_000)
  }

  mirrorFails(): void {
    this.#isMirrorGone = true
  }

  makeReadOnly(isReadOnly: boolean): void {
    this.#isReadOnly = isReadOnly
  }

  async close(): Promise<void> {
    await this.#batonpass?.close()
    rmSync(this.#workspace, { recursive: true, force: true })
  }

  async #open(): Promise<Batonpass> {
    const { faults, scene } = this.#stage
    const { threadSummaries, ...parts } = { ...faults.store }
    const gone = { ...threadSummaries, keep: () => Promise.reject(new Error('the mirror is away')) }
    const store = this.#isMirrorGone ? { ...parts, threadSummaries: gone } : faults.store
    const threads = { ...this.#settings, files: this.#files() }
    this.#batonpass ??= await createBatonpass({ store, clock: scene.clock, ids: scene.ids, threads })
    return this.#batonpass
  }

  #files(): MemoryFiles {
    const files = new FileMemoryFiles({ isTracked: async () => false })
    return {
      open: (workspace, name) => {
        const file = files.open(workspace, name)
        const change: typeof file.change = async (rule) => {
          if (this.#isReadOnly) throw new Error('the disk is read-only')
          return file.change(rule)
        }
        const glance: typeof file.glance = () => file.glance()
        return { path: file.path, read: () => file.read(), glance, isTracked: () => file.isTracked(), change }
      },
    }
  }

  #keep(drafted: Result<ThreadDraft, ThreadRefusal>): void {
    const draft = this.#answer(drafted)
    if (draft !== undefined) this.#drafts.push(draft)
  }

  #answer<T>(result: Result<T, ThreadRefusal>): T | undefined {
    if (result.ok) return result.value
    this.#refuse(result.error)
    return undefined
  }

  #refuse(refusal: ThreadRefusal): void {
    this.refused.push(refusal.code)
    this.told = describeThreadRefusal(refusal)
  }
}
