import type { HookFunction, HookSettings } from '../../src/entry/hooks.ts'
import {
  type AgentRuntime,
  type AgentSession,
  type Batonpass,
  everyPage,
  type HandoffMetadata,
  type RunEvent,
  type RunRequest,
  type RunSummary,
} from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { type Script, ScriptedRuntime, type ScriptedTurn } from '../../src/entry/testing.ts'

/** A turn of so many tokens with these tools. */
export const turn = (promptTokens: number, ...tools: readonly string[]): ScriptedTurn => ({
  text: `At ${promptTokens}.`,
  promptTokens,
  tools,
})

/** A window of 1,000 tokens that fills, and one in which the work ends. */
export const FILLS = [turn(100, 'read'), turn(900, 'edit')]
export const ENDS = [turn(100, 'read'), turn(150)]
export const TASK = 'Fix the flaky test'

/** A runtime with a window of 1,000 tokens. */
export const script = (windows: Script['windows'], more: Partial<Script> = {}): ScriptedRuntime =>
  new ScriptedRuntime({ windowTokens: 1_000, windows, ...more })

/** The same, of a backend of its own: one of several agents. */
export const runtimeOf = (backend: string, windows: Script['windows'], more: Partial<Script> = {}): ScriptedRuntime =>
  script(windows, { backend, ...more })

/** What a run said, and what it came to. */
export interface Played {
  readonly summary: RunSummary
  readonly messages: readonly unknown[]
  readonly events: readonly RunEvent[]
}

/** Runs to the end, under `auto` unless it is said otherwise. */
export const play = async (
  batonpass: Batonpass,
  runtime: AgentRuntime,
  more: Partial<RunRequest> = {},
): Promise<Played> => {
  const run = batonpass.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto', ...more })
  const events: RunEvent[] = []
  run.on((event) => events.push(event))
  const messages: unknown[] = []
  for await (const message of run) messages.push(message)
  return { summary: await run.summary, messages, events }
}

/** What was stored of a run, read back. */
export const recorded = async (
  { history }: Batonpass,
  { conversationId }: Pick<RunSummary, 'conversationId'>,
): Promise<{ readonly sessions: readonly AgentSession[]; readonly handoffs: readonly HandoffMetadata[] }> => {
  const sessions: AgentSession[] = []
  const passed: HandoffMetadata[] = []
  for await (const session of everyPage((page) => history.sessions(conversationId, page))) sessions.push(session)
  for await (const handoff of everyPage((page) => history.handoffs(conversationId, page))) passed.push(handoff)
  return { sessions, handoffs: passed }
}

/** The types of the entries in the audit log of a run, in order. */
export const logged = async (
  { history }: Batonpass,
  { conversationId }: Pick<RunSummary, 'conversationId'>,
): Promise<readonly string[]> => {
  const types: string[] = []
  for await (const { event } of everyPage((page) => history.auditTrail(conversationId, page))) types.push(event.type)
  return types
}

/** What was said in a conversation, in order, as it was recorded. */
export const spoken = async (
  store: Store,
  { conversationId }: Pick<RunSummary, 'conversationId'>,
): Promise<readonly string[]> => {
  const texts: string[] = []
  for await (const { role, text } of everyPage((page) => store.messages.listMessages(conversationId, page)))
    texts.push(`${role}: ${text}`)
  return texts
}

/** A hook that is this function. */
export const functionHook = (
  moment: HookSettings['moment'],
  run: HookFunction,
  more: { readonly shouldContinueOnError?: boolean } = {},
): HookSettings => ({
  type: 'function',
  moment,
  name: moment,
  shouldContinueOnError: true,
  timeoutMs: 5_000,
  run,
  ...more,
})

/** What an event of a run says, from those that have happened. */
export const types = (events: readonly RunEvent[]): readonly string[] => events.map(({ type }) => type)

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
