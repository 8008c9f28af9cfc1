export { agentSdkReader } from '../adapters/claude/readers/agent-sdk-reader.ts'
export { statusLineReader } from '../adapters/claude/readers/status-line-reader.ts'
export { transcriptReader } from '../adapters/claude/readers/transcript-reader.ts'
export { type AgentSdkRuntimeOptions, agentSdkRuntime } from '../adapters/claude/runtime/agent-sdk-runtime.ts'
export { type AgentSdkSummarizerOptions, agentSdkSummarizer } from '../adapters/claude/runtime/agent-sdk-summarizer.ts'
export {
  type ClaudeCommandRuntimeOptions,
  claudeCommandRuntime,
} from '../adapters/claude/runtime/claude-command-runtime.ts'
export type { AgentSdk, SdkMessage } from '../adapters/claude/runtime/sdk-module.ts'
