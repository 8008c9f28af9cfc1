export { agentSdkReader } from './adapters/claude/agent-sdk-reader.ts'
export { statusLineReader } from './adapters/claude/status-line-reader.ts'
export { transcriptReader } from './adapters/claude/transcript-reader.ts'
