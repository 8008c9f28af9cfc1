import { homedir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentVendor } from '../../ports/agent/vendor.ts'
import { compactionPoint, windowSettings } from './settings/compaction-point.ts'

/** A mode that allows more stands later. */
const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions']

/** Every fact about Claude: the command `claude`, and the Agent SDK. */
export const claude: AgentVendor = {
  name: 'claude',
  provider: 'anthropic',
  memoryFiles: { file: 'CLAUDE.md', untracked: 'CLAUDE.local.md' },
  runtimes: {
    'claude-sdk': {
      backend: 'claude_agent_sdk',
      otherName: 'claude-agent-sdk',
      needs: { packageName: '@anthropic-ai/claude-agent-sdk' },
      permissionModes: PERMISSION_MODES,
      takesCommand: false,
      takesAutoCompact: true,
      make: async ({ model, autoCompact, permissionMode, environment: env }) => {
        const { agentSdkRuntime } = await import('./runtime/agent-sdk-runtime.ts')
        const mayDoAnything = permissionMode === 'bypassPermissions'
        const allowDangerouslySkipPermissions = mayDoAnything ? true : undefined
        const options = defined({ permissionMode, allowDangerouslySkipPermissions, env })
        return agentSdkRuntime(defined({ model, autoCompact, options }))
      },
    },
    claude: {
      backend: 'claude_code',
      otherName: 'claude-code',
      needs: { command: 'claude' },
      permissionModes: PERMISSION_MODES,
      takesCommand: true,
      takesAutoCompact: true,
      make: async ({ model, command, autoCompact, permissionMode, environment: env }) => {
        const { claudeCommandRuntime } = await import('./runtime/claude-command-runtime.ts')
        return claudeCommandRuntime(defined({ model, command, autoCompact, permissionMode, env }))
      },
    },
  },
  formats: ['claude-status-line', 'claude-code', 'claude-agent-sdk'],
  readers: async () => [
    (await import('./readers/status-line-reader.ts')).statusLineReader,
    (await import('./readers/transcript-reader.ts')).transcriptReader,
    (await import('./readers/agent-sdk-reader.ts')).agentSdkReader,
  ],
  summarizer: async (model) =>
    (await import('./runtime/agent-sdk-summarizer.ts')).agentSdkSummarizer(defined({ model })),
  terminal: {
    settings: async () => (await import('./settings/claude-files.ts')).claudeSettings,
    agentName: 'claude-code',
    backend: 'claude_code',
    hooks: {
      SessionStart: 'session-start',
      UserPromptSubmit: 'user-prompt-submit',
      PostToolBatch: 'post-tool-use',
      PreCompact: 'pre-compact',
      PostCompact: 'post-compact',
      Stop: 'stop',
      SessionEnd: 'session-end',
    },
    adviceWhenFull: {
      short: '/baton:handoff, then /clear',
      person: 'The person can type /baton:handoff.',
    },
    namesSessionInCalls: false,
    variables: {
      session: 'CLAUDE_CODE_SESSION_ID',
      process: 'CLAUDE_PID',
      projectFolder: 'CLAUDE_PROJECT_DIR',
      toolSettings: 'CLAUDE_ENV_FILE',
    },
    window: { variables: windowSettings, known: compactionPoint },
    transcripts: {
      folder: ({ CLAUDE_CONFIG_DIR, HOME }) =>
        join(CLAUDE_CONFIG_DIR ?? join(HOME ?? homedir(), '.claude'), 'projects'),
      reader: async () => (await import('./readers/transcript-reader.ts')).transcriptReader,
      forkOf: async (path) => (await import('./readers/transcript-fork.ts')).claudeForkOf(path),
    },
    statusLineReader: async () => (await import('./readers/status-line-reader.ts')).statusLineReader,
  },
}
