export { runHook } from './adapters/hook-client/run-hook.ts'
