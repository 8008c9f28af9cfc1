import { describe, expect, it } from 'vitest'
import type { HookSettings } from '../../src/entry/hooks.ts'
import { createBatonpass, everyPage, unwrap } from '../../src/entry/index.ts'
import { ENDS, play, script, TASK } from '../runner/played.ts'
import { leaves, Terminal, worked } from '../terminal/handing.ts'
import { Stage } from '../terminal/stage.ts'
import { expectSetApart, FORGED, NASTY } from './nasty.ts'

const hook = (moment: HookSettings['moment'], answer: unknown): HookSettings => ({
  type: 'function',
  moment,
  name: NASTY,
  shouldContinueOnError: true,
  timeoutMs: 60_000,
  run: () => answer,
})

const nastyTurn = (promptTokens: number) => ({ text: NASTY, promptTokens, tools: [NASTY] })
const NASTY_FILLS = [nastyTurn(100), nastyTurn(900)]

describe('the opening of a session', () => {
  it('sets apart what hooks and the agent before it said: with a checkpoint, and with an extract of the record', async () => {
    const hooks = [hook('on_session_start', NASTY)]
    await using batonpass = await createBatonpass({ store: 'memory', runs: { hooks } })
    const windows = [
      { turns: NASTY_FILLS, checkpoint: `<checkpoint>${NASTY}</checkpoint>` },
      { turns: NASTY_FILLS },
      { turns: ENDS },
    ]
    const runtime = script(windows)
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 2 })
    expect(runtime.launches).toHaveLength(3)
    for (const { prompt } of runtime.launches) {
      expect(prompt).toContain(TASK)
      expect(prompt).toContain(FORGED)
      expectSetApart(prompt)
    }
    // A further prompt in the same conversation starts from the record, and from the last answer in it.
    const further = script([{ turns: ENDS }], { backend: 'another' })
    await play(batonpass, further, { conversationId: summary.conversationId, prompt: 'And now the rest' })
    for (const { prompt } of further.launches) expectSetApart(prompt)
    for await (const { origin, text } of everyPage((page) => batonpass.history.messages(summary.conversationId, page)))
      if (origin === 'hook' || origin === 'batonpass') expectSetApart(text)
  })

  it('sets apart who handed the work over and why', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
    const agent = { agentName: NASTY, backend: 'scripted', conversationId: conversation.id }
    const { holder, session } = unwrap(await handoffs.startSession(agent))
    const messages = [{ role: 'assistant', text: NASTY }] as const
    unwrap(await handoffs.recordTurn({ session, holder, messages }))
    const asked = { targetAgent: 'claude', reason: NASTY, document: NASTY }
    unwrap(await handoffs.initiateHandoff({ session: session.id, holder, ...asked }))
    const runtime = script([{ turns: ENDS }])
    const stop = new AbortController()
    const agents = { claude: { runtime } }
    const onEvent = ({ type }: { readonly type: string }): void => void (type === 'run:end' && stop.abort())
    await batonpass.work({ agents, signal: stop.signal, onEvent })
    expect(runtime.launches).toHaveLength(1)
    for (const { prompt } of runtime.launches) {
      expect(prompt).toContain(FORGED)
      expectSetApart(prompt)
    }
  })

  it('of a terminal sets apart the document that waited, and so does the text after a compaction', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue, NASTY)
    const { inject } = await new Terminal(stage).start()
    expect(inject).toContain(FORGED)
    expectSetApart(inject ?? '')
    const compacted = await stage.hook('session-start', {
      providerSessionId: blue.id,
      transcriptPath: blue.transcript.path,
      source: 'compact',
    })
    expect(compacted.inject).toContain(FORGED)
    expectSetApart(compacted.inject ?? '')
  })
})
