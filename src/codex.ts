export { execReader } from './adapters/codex/exec-reader.ts'
export { rolloutReader } from './adapters/codex/rollout-reader.ts'
