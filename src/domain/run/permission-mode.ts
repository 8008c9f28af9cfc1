import { nearestWord } from '../kernel/nearest-word.ts'

/** The words of each runtime for what an agent may do without asking; a mode that allows more stands later. */
export type PermissionModes = Readonly<Record<string, readonly string[]>>

/**
 * Why a permission mode is invalid for a runtime; undefined when it is valid. While no runtime is chosen, the modes of
 * all are valid.
 */
export const permissionProblem = (
  mode: string,
  runtime: string | undefined,
  modes: PermissionModes,
): { readonly problem: string; readonly advice: string } | undefined => {
  const allowed = runtime === undefined ? Object.values(modes).flat() : (modes[runtime] ?? [])
  if (allowed.includes(mode)) return undefined
  const whose = runtime === undefined ? 'any runtime' : runtime
  if (allowed.length === 0)
    return {
      problem: `${runtime === 'command' ? 'a command of your own' : whose} has no permission mode`,
      advice: 'Say it in the command itself, or leave it out.',
    }
  const nearest = nearestWord(mode, allowed)
  const words = [...new Set(allowed)].join(', ')
  return {
    problem: `${JSON.stringify(mode)} is not a permission mode of ${whose}`,
    advice: nearest === undefined ? `Use one of: ${words}.` : `Did you mean "${nearest}"?`,
  }
}
