import type { HookSettings } from './hook-settings.ts'

/** Why a hook may fail. */
export const HOOK_FAILURE_CODES = [
  'hook.exit',
  'hook.not_found',
  'hook.not_started',
  'hook.threw',
  'hook.timeout',
  'hook.cancelled',
  'hook.variable_missing',
  'hook.secret_refused',
  'hook.header_refused',
  'hook.address_refused',
  'hook.unreachable',
  'hook.redirected',
  'hook.http_status',
  'hook.not_accepted',
] as const

/** Why a hook failed. */
export type HookFailureCode = (typeof HOOK_FAILURE_CODES)[number]

/** Why a hook failed, in a code and in a sentence without secrets. */
export interface HookError {
  readonly code: HookFailureCode
  readonly message: string
}

/** The output of a hook, whether it failed or not. */
export interface HookTrace {
  /** The output of a command, the result of a function, or the answer of a server; its middle is left out when it is long. */
  readonly output: string
  /** The error output of a command. */
  readonly errorOutput?: string
  readonly exitCode?: number
  readonly httpStatus?: number
}

/** How one hook went. */
export type HookResult = HookTrace & {
  /** Its name, or its type when it has none. */
  readonly name: string
  readonly type: HookSettings['type']
  readonly durationMs: number
} & ({ readonly ok: true } | { readonly ok: false; readonly error: HookError })

/** A hook that failed. */
export type FailedHook = Extract<HookResult, { ok: false }>

/** How the hooks of a moment went. One that failed and may not be passed over ends the list. */
export type HookReport =
  | { readonly ok: true; readonly results: readonly HookResult[] }
  | {
      readonly ok: false
      readonly results: readonly HookResult[]
      readonly failed: FailedHook
      /** The names of those that were not called because of it. */
      readonly notCalled: readonly string[]
    }
