import { describe, expect, it } from 'vitest'
import { unwrap } from '../../src/entry/index.ts'
import { Stage } from '../mcp/stage.ts'
import { expectHarmlessLines, expectSetApart, NASTY, textsIn } from './nasty.ts'
import { other } from './record.ts'

/** A conversation in its second window, in which every text that an agent can choose is hostile. */
const stageWithNasty = async () => {
  const stage = await Stage.open({
    clues: { environment: { CLAUDE_CODE_SESSION_ID: 'two' } },
  })
  const { handoffs } = stage.batonpass
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: NASTY, externalKey: NASTY }))
  const agent = { agentName: other('first'), backend: NASTY, model: NASTY, providerSessionId: 'one' }
  const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent, prompt: NASTY }))
  const toolCalls = [{ callId: NASTY, toolName: NASTY, argument: NASTY }]
  const messages = [
    { role: 'assistant', text: NASTY, toolCalls },
    { role: 'tool', text: NASTY, providerMessageId: NASTY },
  ] as const
  const worked = unwrap(await handoffs.recordTurn({ ...started, messages }))
  const asked = { targetAgent: other('next'), reason: NASTY, document: NASTY }
  const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, holder: started.holder, ...asked }))
  const next = unwrap(await handoffs.completeHandoff({ handoff, providerSessionId: 'two', model: NASTY }))
  unwrap(await handoffs.recordTurn({ ...next, messages }))
  return { stage, handoff, session: next.session }
}

/** The arguments with which each tool shows the most. */
const INPUTS: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  get_context_remaining: [{}],
  lineage: [{}],
  read_handoff: [{}, { from: 5 }],
  search_history: [{ words: 'red' }],
  look_back: [{ words: 'red' }, { window: 1, turn: 1 }, { call: NASTY }, { file: 'FORGED' }],
  handoff: [{ document: NASTY, reason: NASTY, target_agent: NASTY }],
}

describe('tools over MCP', () => {
  it('set all text of others apart, every tool and every resource there is', async () => {
    const { stage, handoff } = await stageWithNasty()
    const { tools } = await stage.client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(INPUTS).sort())
    let shown = 0
    for (const [name, inputs] of Object.entries(INPUTS)) {
      for (const input of inputs) {
        const said = await stage.call(name, input)
        expectSetApart(said.text)
        for (const text of textsIn(said.facts)) expectHarmlessLines(text.replaceAll('\n', ' '))
        if (said.text.includes('FORGED')) shown += 1
      }
    }
    expect(shown).toBeGreaterThan(4)
    const uri = `baton://handoffs/${handoff.id}`
    const { contents } = await stage.client.readResource({ uri })
    for (const content of contents) if ('text' in content) expectSetApart(String(content.text))
    const { resources } = await stage.client.listResources()
    expect(JSON.stringify(resources)).toContain('FORGED')
    for (const text of textsIn(resources)) expectSetApart(text)
  })

  it('tell a session that is not there, by a nasty name, without a word of it', async () => {
    const { stage } = await stageWithNasty()
    for (const name of ['get_context_remaining', 'lineage', 'search_history'])
      expectSetApart((await stage.call(name, { session: NASTY.slice(0, 120), words: 'x' })).text)
  })
})
