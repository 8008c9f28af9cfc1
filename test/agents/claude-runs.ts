import { ok } from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  type AgentSession,
  type Batonpass,
  createBatonpass,
  everyPage,
  type HandoffMetadata,
  type RunEvent,
  type RunRequest,
} from '../../src/entry/index.ts'
import { bash, type Make, stage, uses } from './claude-stage.ts'
import type { Body, Script } from './messages-api.ts'
import { never } from './patience.ts'

export const TASK = 'Say the words quokka and numbat, one after the other.'
export const CHECKPOINT = '<checkpoint>\n## Completed work\n- Said quokka [call:toolu_1]\n</checkpoint>'
/** Words of the built-in request for a checkpoint. */
export const ASKS = 'Reply with the checkpoint alone'

export const EMPTY = uses(12, 20_000, 0, 40)
export const FULL = uses(10, 1_000, 170_000, 60)

/** A window that fills with its second turn, and one in which the work ends. */
export const FILLS = [
  { tool: bash('echo quokka'), usage: EMPTY },
  { tool: bash('echo still-quokka'), usage: FULL },
  // An answer that takes its time, as real ones do: it is interrupted before it is there.
  { text: 'This should not be needed.', usage: FULL, after: never },
]
export const ENDS = [
  { tool: bash('echo numbat'), usage: EMPTY },
  { text: 'Quokka, numbat.', usage: uses(9, 300, 20_000, 50) },
]

/** Runs the real thing through the runner, on a store of its own. */
export const run = async (t: TestContext, make: Make, script: Script, more: Partial<RunRequest> = {}) => {
  const { api, home, runtime } = await stage(t, make, script)
  const batonpass = await createBatonpass({ store: 'memory' })
  t.after(() => batonpass.close())
  const workspace = { workingDirectory: home }
  const ran = batonpass.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto', workspace, ...more })
  const events: RunEvent[] = []
  ran.on((event) => events.push(event))
  let messages = 0
  for await (const _ of ran) messages += 1
  const summary = await ran.summary
  return { api, home, events, messages, summary, ...(await recorded(batonpass, summary.conversationId)) }
}

const recorded = async ({ history, audit }: Batonpass, id: Parameters<typeof history.lineage>[0]) => {
  const sessions: AgentSession[] = []
  const passed: HandoffMetadata[] = []
  for await (const session of everyPage((page) => history.sessions(id, page))) sessions.push(session)
  for await (const handoff of everyPage((page) => history.handoffs(id, page))) passed.push(handoff)
  const verdict = await audit.verify(id)
  ok(verdict.ok && verdict.value.intact, 'the audit log is intact')
  return { sessions, handoffs: passed }
}

export const textOf = (body: Body | undefined): string => JSON.stringify(body?.messages)
