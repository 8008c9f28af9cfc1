import { createBatonpass, unwrap } from '../src/entry/index.ts'

const batonpass = await createBatonpass()
const { handoffs, history } = batonpass

// A conversation is one long piece of work. A session is one agent's window on it.
const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Make the checkout test pass' }))
const started = unwrap(
  await handoffs.startSession({ conversationId: conversation.id, agentName: 'claude-code', backend: 'scripted' }),
)

const worked = unwrap(
  await handoffs.recordTurn({
    ...started,
    messages: [
      { role: 'user', text: 'Find out why the checkout test fails.' },
      {
        role: 'assistant',
        text: 'It compares floats. Let me run it.',
        toolCalls: [{ callId: 'call-1', toolName: 'run_tests' }],
      },
      { role: 'tool', text: '1 failed: expected 19.90, got 19.900000000000002' },
    ],
  }),
)

// The source is paused from here on. The handoff names the turn and the tool calls that led to it.
const { handoff } = unwrap(
  await handoffs.initiateHandoff({
    ...worked,
    targetAgent: 'opus-agent',
    reason: 'The window is nearly full',
    document: 'Cause found: prices are floats. Next: compare in cents.',
  }),
)

// In one commit: the source is handed off, a new session is active, the handoff is completed.
unwrap(await handoffs.completeHandoff({ handoff }))

const lineage = await history.lineage(conversation.id)
for (const session of lineage?.sessions ?? []) {
  console.log(`epoch ${session.epoch}: ${session.agentName} is ${session.state}`)
}
for (const { sourceAgent, targetAgent, status, reason, triggeringToolCalls } of lineage?.handoffs ?? []) {
  const tools = triggeringToolCalls.map(({ toolName }) => toolName).join(', ')
  console.log(`${sourceAgent} -> ${targetAgent}: ${status}, after ${tools} (${reason})`)
}

await batonpass.close()
