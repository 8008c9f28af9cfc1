import { join } from 'node:path'
import type { AgentVendor } from '../../../src/ports/agent/vendor.ts'

/** Every fact about Pico, an agent that there is not. It lies as deep here as it does in `src/adapters`. */
export const pico: AgentVendor = {
  name: 'pico',
  provider: 'pico_labs',
  memoryFiles: { file: 'PICO.md' },
  runtimes: {
    pico: {
      backend: 'pico_cli',
      otherName: 'pico-cli',
      needs: {},
      permissionModes: ['ask-first', 'just-do-it'],
      takesCommand: false,
      takesAutoCompact: false,
      make: async () => (await import('./runtime.ts')).picoRuntime,
    },
  },
  formats: ['pico-lines'],
  readers: async () => [(await import('./reader.ts')).picoReader],
  terminal: {
    agentName: 'pico',
    backend: 'pico_cli',
    hooks: { SessionStart: 'session-start', Stop: 'stop' },
    noStatusLine: 'Pico has no status line that a program draws',
    adviceWhenFull: { short: 'say enough', person: 'The person can say enough.' },
    namesSessionInCalls: false,
    settings: async () => ({
      title: 'Pico',
      hookFiles: ({ workingFolder }) => [join(workingFolder, '.pico', 'hooks.json')],
      serverLists: ({ workingFolder }) => [{ file: join(workingFolder, '.pico', 'servers.toml'), list: ['servers'] }],
      removeServer: 'pico forget',
    }),
    variables: { session: 'PICO_SESSION' },
    transcripts: {
      folder: ({ HOME = '' }) => join(HOME, '.pico'),
      reader: async () => (await import('./reader.ts')).picoReader,
      forkOf: async () => [],
    },
  },
}
