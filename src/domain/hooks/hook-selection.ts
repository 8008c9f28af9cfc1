import type { HookEvent, HookSettings } from './hook-settings.ts'

/** Whether a hook is to be called: it waits for this event, and what its `when` leads to is truthy. */
export const isDue = ({ onEvents, when }: HookSettings, payload: { readonly hook_event_name: HookEvent }): boolean =>
  (onEvents === undefined || onEvents.includes(payload.hook_event_name)) &&
  (when === undefined || Boolean(valueAt(payload, when)))

/** Follows own properties only: `constructor` is on every object and would make every such path true. */
const valueAt = (payload: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      payload,
    )

/** The name of a hook in results. */
export const hookName = ({ name, type }: HookSettings): string => name ?? type
