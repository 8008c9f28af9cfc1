export { execReader } from '../adapters/codex/readers/exec-reader.ts'
export { rolloutReader } from '../adapters/codex/readers/rollout-reader.ts'
export type { CodexUsage } from '../adapters/codex/readers/rollout-totals.ts'
export { type CodexRuntimeOptions, codexRuntime } from '../adapters/codex/runtime/codex-runtime.ts'
export type {
  CodexClient,
  CodexConfigValue,
  CodexEvent,
  CodexItem,
  CodexOptions,
  CodexSdk,
  CodexThread,
  CodexThreadOptions,
} from '../adapters/codex/runtime/codex-sdk.ts'
