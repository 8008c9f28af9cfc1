export { type CodexRuntimeOptions, codexRuntime } from '../adapters/codex/codex-runtime.ts'
export type {
  CodexClient,
  CodexConfigValue,
  CodexEvent,
  CodexItem,
  CodexOptions,
  CodexSdk,
  CodexThread,
  CodexThreadOptions,
  CodexUsage,
} from '../adapters/codex/codex-sdk.ts'
export { execReader } from '../adapters/codex/exec-reader.ts'
export { rolloutReader } from '../adapters/codex/rollout-reader.ts'
