import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { DEFAULT_RESTART_BUDGET, type RestartBudget } from '../../src/domain/budget/restart-budget.ts'
import type { Workspace } from '../../src/domain/conversation/conversation.ts'
import type { HookSettings } from '../../src/domain/hooks/hook-settings.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import { err, ok } from '../../src/domain/kernel/result.ts'
import { RefusedError } from '../../src/domain/unwrap.ts'
import { type Batonpass, createBatonpass } from '../../src/main/batonpass.ts'
import type { AgentRuntime } from '../../src/ports/agent/agent-runtime.ts'
import type { RunTools, ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { AgentRun } from '../../src/services/run/agent-run.ts'
import type { RunItem } from '../../src/services/run/run-items.ts'
import type { RunRequest } from '../../src/services/run/run-request.ts'
import type { ScriptedMessage, ScriptedTool, ScriptedTurn, ScriptedWindow } from '../../src/testing/script.ts'
import { lostProcess } from '../../test/support/lost-process.ts'
import { type Habits, withHabits } from './agent-habits.ts'
import { need } from './hands.ts'
import type { LooksUp } from './looking-agent.ts'
import type { Machine } from './machine.ts'
import { programOf } from './program.ts'
import { ScriptedAgent, windowOf } from './scripted-agent.ts'
import type { Stage } from './stage.ts'

/** How long a process that is to be lost may be silent. On a server this time really passes. */
const LEASE_MS = 150
const LONGER_MS = 250
/** How long one that lives may be silent, and less than that. */
const LIVING_LEASE_MS = 900
const WHILE_MS = 400
/** How long a checkpoint may take, and one that takes too long. */
const PATIENCE_MS = 40
const FOREVER_MS = 60_000

/** Agents that are run to their end, window after window, and what befalls the processes that run them. */
export class Runs {
  readonly #stage: Stage
  /** What somebody who follows the run has seen. */
  readonly followed: RunItem<ScriptedMessage>[] = []
  #agent = ''
  #program: AgentRuntime | undefined
  #tokens = 0
  #windows: readonly ScriptedWindow[] = []
  #isStubborn = false
  #takesInput = false
  #looksUp: LooksUp | undefined
  #runTools: RunTools | undefined
  #habits: Habits = {}
  #hooks: readonly HookSettings[] = []
  #request: Partial<RunRequest> = {}
  #runtime: ScriptedAgent | undefined
  #task: string | undefined
  #left: AsyncIterator<ScriptedMessage> | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** An agent, what it does in each of its windows, and the checkpoint it writes at the end of each. */
  agent(name: string, tokens: number, windows: readonly (readonly string[])[]): void {
    this.#agent = name
    this.#tokens = tokens
    this.#windows = windows.map(([turns = '', checkpoint = '']) => ({
      ...windowOf(turns, tokens),
      checkpoint: `<checkpoint>${checkpoint}</checkpoint>`,
    }))
  }

  /** The same for all of its windows. */
  inEachWindow(change: Partial<ScriptedWindow>): void {
    this.#windows = this.#windows.map((window) => ({ ...window, ...change }))
  }

  /** Something is said to the agent before the first turn of a window. */
  hears(number: number, said: NonNullable<ScriptedTurn['heard']>[number]): void {
    this.#windows = this.#windows.map((window, index) => {
      const [first, ...rest] = window.turns
      if (index !== number - 1 || first === undefined) return window
      return { ...window, turns: [{ ...first, heard: [...(first.heard ?? []), said] }, ...rest] }
    })
  }

  saysNothingFirst(): void {
    this.#windows = this.#windows.map(({ checkpoint = '', ...window }) => {
      let asked = 0
      return {
        ...window,
        checkpoint: () => {
          asked += 1
          return asked === 1 ? '' : String(checkpoint)
        },
      }
    })
  }

  useToolsOn(argument: string): void {
    this.#windows = this.#windows.map((window) => ({
      ...window,
      turns: window.turns.map(({ tools = [], ...turn }) => ({
        ...turn,
        tools: tools.map((tool) => ({ name: typeof tool === 'string' ? tool : tool.name, argument })),
      })),
    }))
  }

  /** Its tools are used on one after the other, in every window from the first again. */
  useToolsInTurnOn(args: readonly string[]): void {
    this.#windows = this.#windows.map((window) => {
      const left = [...args]
      const used = (tool: string | { readonly name: string }) => {
        const name = typeof tool === 'string' ? tool : tool.name
        return { name, argument: left.shift() ?? '' }
      }
      return { ...window, turns: window.turns.map(({ tools = [], ...turn }) => ({ ...turn, tools: tools.map(used) })) }
    })
  }

  /** How it was asked for its checkpoints, each time. */
  get checkpointsAsked(): readonly string[] {
    return this.#runtime?.questions.map(({ prompt }) => prompt) ?? []
  }

  /** It can be told something while it works. Once told, it does this in place of the rest of its first window, and lands. */
  listens(turns?: string): void {
    this.#takesInput = true
    if (turns === undefined) return
    const [first, ...rest] = this.#windows
    const lands = { text: 'Saved.\n[landed]', promptTokens: Math.round(this.#tokens * 0.75) }
    if (first !== undefined)
      this.#windows = [{ ...first, whenTold: [...windowOf(turns, this.#tokens).turns, lands] }, ...rest]
  }

  /** It takes tools, and asks this with look_back. */
  looksUp(question: LooksUp): void {
    this.#looksUp = question
  }

  switchLookingBackOff(): void {
    this.#request = { ...this.#request, lookBack: false }
  }

  servesNoTools(): void {
    this.#runTools = { open: () => Promise.reject(new Error('No port is free')) }
  }

  /** A tool of its own answers with this, wherever it is used. */
  toolAnswers(name: string, result: string): void {
    const answering = (tool: string | ScriptedTool): string | ScriptedTool =>
      (typeof tool === 'string' ? tool : tool.name) === name ? { name, result } : tool
    this.#windows = this.#windows.map((window) => ({
      ...window,
      turns: window.turns.map(({ tools = [], ...turn }) => ({ ...turn, tools: tools.map(answering) })),
    }))
  }

  /** Where its agents found their tools. */
  get toolsOffered(): readonly ToolsEndpoint[] {
    return this.#runtime?.offered ?? []
  }

  switchLandingOff(): void {
    this.#request = { ...this.#request, softLanding: false }
  }

  answersTooLate(): void {
    this.inEachWindow({ checkpointMs: FOREVER_MS })
    this.#request = { ...this.#request, checkpointTimeoutMs: PATIENCE_MS }
  }

  /** Its checkpoint says which of its tools have answered. */
  namesAnsweredTools(): void {
    this.inEachWindow({ checkpoint: () => `Finished: ${this.#runtime?.answered.join(', ')}` })
  }

  costs(windowUsd: number, checkpointUsd: number): void {
    const costing = (costUsd: number) => ({ inputTokens: this.#tokens, outputTokens: 0, costUsd })
    this.inEachWindow({ totals: costing(windowUsd), checkpointTotals: costing(checkpointUsd) })
  }

  /** Its agents have something special. */
  behave(habits: Habits): void {
    this.#habits = { ...this.#habits, ...habits }
  }

  /** The machine that its agents are processes of. */
  get machine(): Machine {
    return need(this.#habits.machine, 'a machine')
  }

  /** An agent may say nothing for so long. */
  mayBeSilentFor(idleTimeoutMs: number): void {
    this.#request = { ...this.#request, idleTimeoutMs }
  }

  beStubborn(): void {
    this.#isStubborn = true
  }

  restartAt(percent: number): void {
    this.#request = { ...this.#request, milestones: [{ name: 'restart', at: percent / 100 }] }
  }

  allow(budget: Partial<RestartBudget>): void {
    this.#request = { ...this.#request, budget: { ...DEFAULT_RESTART_BUDGET, ...this.#request.budget, ...budget } }
  }

  alwaysFresh(): void {
    this.#request = { ...this.#request, sessionMode: 'fresh' }
  }

  workIn(workspace: Workspace): void {
    this.#request = { ...this.#request, workspace }
  }

  call(hook: HookSettings): void {
    this.#hooks = [...this.#hooks, hook]
  }

  /** A program of one's own in place of a scripted agent; what it prints in each of its windows, and its exit code. */
  program(name: string, windows: readonly (readonly string[])[]): void {
    this.#agent = name
    this.#program = programOf(windows, this.#stage.named('program'))
  }

  /** Runs the agent until it is done, or is not to go on. */
  async run(task = need(this.#task, 'a task')): Promise<void> {
    await (await this.#begin(task)).finish()
    await this.#enter()
  }

  /** Runs the agent for somebody who follows messages and events in one stream. */
  async follow(task: string): Promise<void> {
    for await (const item of (await this.#begin(task)).everything()) this.followed.push(item)
    await this.#enter()
  }

  /** Runs the agent until it has spoken in one of its windows, and leaves it there, at work. */
  async runUntil(task: string, window: number): Promise<void> {
    const run = await this.#begin(task, { leaseMs: LIVING_LEASE_MS })
    const messages = run[Symbol.asyncIterator]()
    const sessions = new Set<string>()
    while (sessions.size < window) sessions.add(messageIn(await messages.next()).session)
    this.#left = messages
    await this.#enter()
  }

  /** Lets more time pass than a process may be silent; one that lives says so meanwhile. */
  async liveOn(): Promise<void> {
    for (let passed = 0; passed <= LIVING_LEASE_MS; passed += WHILE_MS) {
      await this.#stage.scene.passTime(WHILE_MS)
      await new Promise((resolve) => setTimeout(resolve, WHILE_MS))
    }
  }

  /** Runs the agent and cancels it, as Ctrl-C does, while it writes its first checkpoint. */
  async cancelRestart(task: string): Promise<void> {
    this.inEachWindow({ checkpointMs: FOREVER_MS })
    const ctrlC = new AbortController()
    const run = await this.#begin(task, { signal: ctrlC.signal })
    run.on(({ type }) => {
      if (type === 'context:handoff:start') setTimeout(() => ctrlC.abort(new Error('Ctrl-C')), 20)
    })
    await run.finish()
    await this.#enter()
  }

  /** Runs the agent and cancels it, as Ctrl-C does, once its first turn is on record. */
  async callOffEarly(task: string): Promise<void> {
    const ctrlC = new AbortController()
    const run = await this.#begin(task, { signal: ctrlC.signal })
    run.on(({ type }) => {
      if (type === 'turn:recorded') ctrlC.abort(new Error('Ctrl-C'))
    })
    await run.finish()
    await this.#enter()
  }

  /** Runs the agent in a process that is never heard of again once this was stored. */
  async lose(task: string, last: AuditEvent['type'], { leaseMs = LEASE_MS, waitMs = LONGER_MS } = {}): Promise<void> {
    const isLast = ({ events }: { readonly events: readonly AuditEvent[] }) => events.some(({ type }) => type === last)
    const { store, lost } = lostProcess(this.#stage.scene.store, isLast)
    const run = await this.#begin(task, { leaseMs }, store)
    const survived = run.finish().then(() => Promise.reject(new Error('The process was not lost')))
    await Promise.race([lost, survived])
    await this.#stage.scene.passTime(waitMs)
    await this.#enter()
  }

  /** The same on a machine where everybody can see that the process has ended; nobody has to wait for its lease. */
  async kill(task: string, last: AuditEvent['type']): Promise<void> {
    await this.lose(task, last, { leaseMs: FOREVER_MS, waitMs: 0 })
    this.machine.killRunners()
  }

  /** Another process runs the same conversation, which may be refused. */
  async runBeside(): Promise<void> {
    const run = await this.#begin(need(this.#task, 'a task'))
    await this.#stage.attempts.ask(() => run.finish().then(ok, refusalIn))
  }

  /** So many processes look for orphaned work at the same moment. */
  async recover({ processes = 1, canRun = true } = {}): Promise<void> {
    const runtimes = canRun ? [this.#playing()] : []
    const looking = Array.from({ length: processes }, async () => (await this.#batonpass()).recover({ runtimes }))
    await Promise.all(looking)
  }

  /** Nobody is at work after the scenario. */
  async stop(): Promise<void> {
    await this.#left?.return?.()
  }

  async #begin(task: string, more: Partial<RunRequest> = {}, store?: Store): Promise<AgentRun<ScriptedMessage>> {
    this.#task = task
    const batonpass = await this.#batonpass(store)
    const about = { agent: this.#agent, prompt: task, conversation: this.#key, policy: 'auto' } as const
    return batonpass.run({ ...this.#request, ...about, ...more, runtime: this.#playing() })
  }

  #batonpass(store: Store = this.#stage.scene.store): Promise<Batonpass> {
    const { machine: processes } = this.#habits
    return createBatonpass({ store, runs: { hooks: this.#hooks }, ...defined({ processes, runTools: this.#runTools }) })
  }

  /** What all processes of the scenario have in common beside the store. Its name is the scenario's own. */
  #playing(): AgentRuntime<ScriptedMessage> {
    if (this.#program !== undefined) return this.#program as AgentRuntime<ScriptedMessage>
    const backend = this.#stage.named('scripted')
    const takesInput = this.#takesInput
    const looksUp = this.#looksUp
    const takesTools = looksUp !== undefined
    const script = { windows: this.#windows, windowTokens: this.#tokens, backend, takesInput, takesTools }
    this.#runtime ??= new ScriptedAgent(script, { isStubborn: this.#isStubborn, looksUp })
    return withHabits(this.#runtime, this.#habits)
  }

  get #key(): string {
    return this.#stage.named('conversation')
  }

  async #enter(): Promise<void> {
    const found = await this.#stage.history.conversationByKey(this.#key)
    this.#stage.hands.enter(this.#key, need(found, 'a conversation').id)
  }
}

const messageIn = ({ done, value }: IteratorResult<ScriptedMessage>): ScriptedMessage => {
  if (done === true) throw new Error('The run was over before')
  return value
}

const refusalIn = (error: unknown) => {
  if (!(error instanceof RefusedError)) throw error
  return err(error.refusal)
}
