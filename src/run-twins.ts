import type { HandoffServiceDeps } from './services/session-keeping.ts'

/** The twin of each service, for runs. */
const twins = new WeakMap<object, object>()

/** A service, and one like it for runs: that one counts, and shows no commands, because a run has spans of its own. */
export const withTwin = <T extends object>(
  Service: new (deps: HandoffServiceDeps) => T,
  deps: HandoffServiceDeps,
): T => {
  const { command: _, ...counting } = deps.telemetry ?? {}
  const service = new Service(deps)
  twins.set(service, new Service({ ...deps, telemetry: counting }))
  return service
}

/** The service for runs. One that somebody else registered is used as it is. */
export const forRuns = <T extends object>(service: T): T => (twins.get(service) as T | undefined) ?? service
