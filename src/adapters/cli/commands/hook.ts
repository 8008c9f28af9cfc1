import type { Run } from '../tree/command.ts'

/** Runs a hook from the command tree, as `main.ts` does without it. */
export const hookCommand =
  (event: string): Run =>
  async ({ values }) => {
    const { runHook } = await import('../../../main/hook.ts')
    const flags = Object.entries(values).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`))
    await runHook([event, ...flags])
  }
