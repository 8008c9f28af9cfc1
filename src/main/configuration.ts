import type { CheckedConfiguration } from '../domain/run/run-configuration.ts'

/**
 * Reads a configuration: a YAML or JSON file by its name, or an object with the same keys.
 *
 * A setting that is not written has a default. The answer says for each setting where it came from.
 *
 * @throws ConfigurationError with everything that is wrong, and what to do about each
 * @example
 * ```ts
 * const { configuration } = await readConfiguration({ session: { context_threshold: 0.1 } })
 * console.log(configuration.monitor.milestones.map(({ name, at }) => `${name} ${at}`).join(', ')) // => warning 0.5, critical 0.65, restart 0.9
 * ```
 */
export const readConfiguration = async (fileOrObject: string | object): Promise<CheckedConfiguration> => {
  // Loaded when it is used: it brings a parser and schemas, which many programs never need.
  const { readConfigurationFor: read } = await import('../adapters/config/read-configuration.ts')
  const { KNOWN_AGENTS } = await import('./runtimes.ts')
  return read(fileOrObject, KNOWN_AGENTS)
}
