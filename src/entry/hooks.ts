export { NodeHookRunner, type NodeHookRunnerOptions } from '../adapters/hooks/node-hook-runner.ts'
export type { AddressLookup, ResolvedAddress } from '../adapters/hooks/safe-lookup.ts'
export {
  handoffAnswer,
  type ThresholdAnswer,
  type ThresholdOutcome,
  thresholdAnswer,
  thresholdOutcome,
} from '../domain/hooks/hook-answer.ts'
export { promptAfterHooks } from '../domain/hooks/hook-prompt.ts'
export type {
  FailedHook,
  HookError,
  HookFailureCode,
  HookReport,
  HookResult,
  HookTrace,
} from '../domain/hooks/hook-result.ts'
export type { HookCall, HookEvent, HookFunction, HookMoment, HookSettings } from '../domain/hooks/hook-settings.ts'
export {
  type AfterHandoffPayload,
  type AfterRunPayload,
  type ErrorPayload,
  type HookContext,
  type HookPayload,
  type HookPayloads,
  type HookSession,
  type HookSessionFacts,
  type HookSessionStart,
  type HookSessionStartFacts,
  hookContext,
  hookSession,
  hookSessionStart,
  type SessionStartPayload,
  type ThresholdPayload,
} from '../ports/agent/hook-payload.ts'
export type { HookOptions, HookRunner } from '../ports/agent/hook-runner.ts'
export type { Environment } from '../ports/system/environment.ts'
export { type RunHooksRequest, runHooks } from '../services/run/hooks/run-hooks.ts'
