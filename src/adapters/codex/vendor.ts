import { homedir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentVendor } from '../../ports/agent/vendor.ts'

/** Codex calls it a sandbox. A mode that allows more stands later. */
const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const

/** Every fact about Codex: the command `codex`, and its SDK. */
export const codex: AgentVendor = {
  name: 'codex',
  provider: 'openai',
  memoryFiles: { file: 'AGENTS.md' },
  runtimes: {
    codex: {
      backend: 'codex',
      otherName: 'codex-cli',
      needs: { packageName: '@openai/codex-sdk', command: 'codex' },
      permissionModes: SANDBOXES,
      takesCommand: true,
      takesAutoCompact: false,
      make: async ({ model, command: codexPathOverride, permissionMode, environment = {} }) => {
        const { codexRuntime } = await import('./runtime/codex-runtime.ts')
        const env: Record<string, string> = {}
        for (const [name, value] of Object.entries(environment)) if (value !== undefined) env[name] = value
        const sandboxMode = SANDBOXES.find((mode) => mode === permissionMode)
        return codexRuntime({ codex: defined({ codexPathOverride, env }), thread: defined({ model, sandboxMode }) })
      },
    },
  },
  formats: ['codex-rollout', 'codex-exec'],
  readers: async () => [
    (await import('./readers/rollout-reader.ts')).rolloutReader,
    (await import('./readers/exec-reader.ts')).execReader,
  ],
  terminal: {
    settings: async () => (await import('./settings/codex-files.ts')).codexSettings,
    agentName: 'codex',
    backend: 'codex',
    hooks: {
      SessionStart: 'session-start',
      UserPromptSubmit: 'user-prompt-submit',
      PreCompact: 'pre-compact',
      PostCompact: 'post-compact',
      Stop: 'stop',
      SessionEnd: 'session-end',
    },
    noStatusLine: 'Codex has no status line that a program draws',
    adviceWhenFull: { short: 'ask for a handoff', person: 'Tell the person to ask you for it.' },
    namesSessionInCalls: true,
    variables: {},
    transcripts: {
      folder: ({ CODEX_HOME, HOME }) => join(CODEX_HOME ?? join(HOME ?? homedir(), '.codex'), 'sessions'),
      reader: async () => (await import('./readers/rollout-reader.ts')).rolloutReader,
      forkOf: async (path) => (await import('./readers/rollout-reader.ts')).codexForkOf(path),
    },
  },
}
