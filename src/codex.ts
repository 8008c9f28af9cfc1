export { type CodexRuntimeOptions, codexRuntime } from './adapters/codex/codex-runtime.ts'
export {
  type CodexClient,
  type CodexConfigValue,
  type CodexEvent,
  type CodexItem,
  CodexMissingError,
  type CodexOptions,
  type CodexSdk,
  type CodexThread,
  type CodexThreadOptions,
  type CodexUsage,
} from './adapters/codex/codex-sdk.ts'
export { execReader } from './adapters/codex/exec-reader.ts'
export { rolloutReader } from './adapters/codex/rollout-reader.ts'
