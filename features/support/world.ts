import { setWorldConstructor, World } from '@cucumber/cucumber'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import { describeRefusal } from '../../src/domain/refusal.ts'
import type { Fault, StoreUnderTest } from '../../src/entry/testing.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { openStore, type StoreKind } from '../../test/support/stores.ts'
import { AgentsAtWork } from './agents-at-work.ts'
import { askTool, type Told } from './asking.ts'
import { blindStore } from './blind-store.ts'
import { Casts } from './casts.ts'
import { Fleet } from './fleet.ts'
import { HandoffsUnderWay } from './handoffs-under-way.ts'
import { need } from './hands.ts'
import { all, Kept } from './kept.ts'
import { LookBacks } from './look-backs.ts'
import { PersonsSettings } from './persons-settings.ts'
import { Runs } from './runs.ts'
import { Stage } from './stage.ts'
import { Terminals } from './terminals.ts'
import { Threads } from './threads.ts'
import { Windows } from './windows.ts'
import { Workers } from './workers.ts'

/** What a run of the features may be told. */
interface Parameters {
  readonly store?: StoreKind
  /** Read back through ports that find nothing: then every scenario must fail. */
  readonly blind?: boolean
}

/** How long a claim "for a moment" lasts, and a wait that is longer. On a server this time really passes. */
export const A_MOMENT_MS = 40
const LONGER_MS = 80

/** What a scenario can do and look at: verbs that send commands, and `kept`, which reads the store. */
export class HandoffWorld extends World<Parameters> {
  #opened: StoreUnderTest | undefined
  #stage: Stage | undefined
  #remembered: readonly unknown[] | undefined
  #told: Told | undefined
  agents!: AgentsAtWork
  handoffs!: HandoffsUnderWay
  workers!: Workers
  fleet!: Fleet
  windows!: Windows
  runs!: Runs
  casts!: Casts
  terminals!: Terminals
  lookBacks!: LookBacks
  settings!: PersonsSettings
  threads!: Threads

  async open(): Promise<void> {
    this.#opened = await openStore(this.parameters.store ?? 'memory')
    const stage = new Stage(this.#opened, (keys) => this.look(keys))
    this.#stage = stage
    this.agents = new AgentsAtWork(stage)
    this.handoffs = new HandoffsUnderWay(stage)
    this.workers = new Workers(stage)
    this.fleet = new Fleet(stage)
    this.windows = new Windows(stage)
    this.runs = new Runs(stage)
    this.casts = new Casts(stage)
    this.terminals = new Terminals(stage)
    this.lookBacks = new LookBacks(stage)
    this.threads = new Threads(stage, this.terminals.workspace)
    this.settings = new PersonsSettings(this.parameters.blind === true)
  }

  async close(): Promise<void> {
    await this.workers?.stopAll()
    await this.runs?.stop()
    await this.threads?.close()
    await this.terminals?.close()
    this.settings?.close()
  }

  /** What the store holds of the conversation the scenario is about. */
  get kept(): Kept {
    const { key } = this.#set.hands
    return new Kept(this.#reading, (store) => store.conversations.findByExternalKey(key))
  }

  /** What the store holds of a job's conversation. */
  keptOf(job: string): Kept {
    return new Kept(this.#reading, (store) => store.conversations.findByExternalKey(this.named(job)))
  }

  /** The conversation of a terminal, as the store has it. */
  keptTerminal(name: string): Kept {
    return new Kept(this.#reading, (store) => store.conversations.findByExternalKey(this.terminals.keyOf(name)))
  }

  /** Asks a tool as the agent of a terminal does. */
  async askAs(name: string, tool: string, input: Record<string, unknown> = {}): Promise<void> {
    const session = this.terminals.idOf(name)
    this.#told = await askTool({ store: this.#reading, handoffs: this.#set.service, session }, tool, input)
  }

  /** The answer of the last tool that was called. */
  get toldByTool(): Told {
    return need(this.#told, 'an answer of a tool')
  }

  /** What the store holds of the conversation an agent works on, be it elsewhere. */
  keptWith(agent: string): Kept {
    const elsewhere = this.named(`work of ${agent}`)
    const isElsewhere = this.#set.hands.keys.includes(elsewhere)
    return isElsewhere
      ? new Kept(this.#reading, (store) => store.conversations.findByExternalKey(elsewhere))
      : this.kept
  }

  /** What the store holds of each conversation of the scenario. */
  keptAll(): readonly Kept[] {
    return this.#set.hands.keys.map(
      (key) => new Kept(this.#reading, (store) => store.conversations.findByExternalKey(key)),
    )
  }

  /** The handoffs that wait for an agent. */
  pendingFor(agent: string): Promise<readonly HandoffMetadata[]> {
    return all((page) => this.#reading.handoffs.listPendingFor(agent, page))
  }

  /** Everything the store holds of these conversations, or of all those of the scenario. */
  async look(keys = this.#set.hands.keys): Promise<readonly unknown[]> {
    const found = await Promise.all(keys.map((key) => this.#reading.conversations.findByExternalKey(key)))
    const there = found.filter((conversation) => conversation !== undefined)
    return Promise.all(there.map((conversation) => new Kept(this.#reading, async () => conversation).everything()))
  }

  /** Keeps all there is now, to be compared with all there is later. */
  async remember(): Promise<void> {
    this.#remembered = await this.look()
  }

  get remembered(): readonly unknown[] {
    return need(this.#remembered, 'something to compare with')
  }

  /** How the last commands were refused, or broke. */
  get attempts() {
    return this.#set.attempts
  }

  /** What a person is told about the last refusal, with names as the scenario has them. */
  get told(): string {
    return this.shown(this.attempts.reasons.map(describeRefusal).join(' '))
  }

  /** Breaks the next commit. */
  plan(fault: Fault): void {
    this.#set.faults.plan(fault)
  }

  /** Lets every claim "for a moment" end. */
  passDeadline(): Promise<void> {
    return this.#set.scene.passTime(LONGER_MS)
  }

  /** A name as it is stored, so that scenarios can share a store. */
  named(name: string): string {
    return this.#set.named(name)
  }

  names(base: string, count: number): readonly string[] {
    return Array.from({ length: count }, (_, index) => this.named(`${base}-${index + 1}`))
  }

  /** A text with names as the scenario has them. */
  shown(text: string): string {
    return text.replaceAll(this.#set.scene.name(''), '')
  }

  /** A second conversation in which the tool "foreign" was used; the first stays the one the scenario is about. */
  async workElsewhere(): Promise<void> {
    await this.#set.hands.aside(async () => {
      await this.agents.open('Fix another test', 'elsewhere')
      await this.agents.start(this.named('stranger'))
      await this.agents.usesTools([{ answering: 'user', tools: ['foreign'] }])
    })
  }

  get #set(): Stage {
    return need(this.#stage, 'a store')
  }

  get #reading(): Store {
    const { store } = need(this.#opened, 'a store')
    return this.parameters.blind === true ? blindStore(store) : store
  }
}

setWorldConstructor(HandoffWorld)
