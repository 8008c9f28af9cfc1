import type { AgentRuntime } from '../../../src/ports/agent/agent-runtime.ts'

/** Answers every prompt at once. */
export const picoRuntime: AgentRuntime = {
  backend: 'pico_cli',
  takesSessionId: false,
  start: ({ prompt }) => ({
    steps: (async function* () {
      yield { events: [], texts: [{ role: 'user' as const, text: prompt }] }
      yield { events: [], texts: [{ role: 'assistant' as const, text: 'Pico has done it.' }] }
      yield { events: [], texts: [], end: { type: 'idle' as const } }
    })(),
    interrupt: async () => {},
  }),
}
