import { hookName } from '../../domain/hooks/hook-selection.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { AllowedNetworks } from './allowed-networks.ts'
import { BadHeader, filledHeaders } from './header-values.ts'
import { addressProblem } from './send.ts'
import { signedHeaders, WeakSecret } from './signature.ts'
import { botToken } from './slack-channel.ts'
import { MissingVariable, Variables } from './variables.ts'

/** Everything that hooks would be called with. */
export interface ForeseenSurroundings {
  readonly environment: Environment
  readonly allowNetworks?: readonly string[]
}

/**
 * The hooks that would be refused if they were called now, each in a sentence without secrets. Nothing is sent and no
 * name is looked up: a file that is only looked at must not be able to tell anybody. So a name that leads into a
 * private network is found when the hook is called, and not before.
 *
 * @throws ConfigurationError when a network cannot be allowed
 */
export const foreseenRefusals = (
  hooks: readonly HookSettings[],
  { environment, allowNetworks }: ForeseenSurroundings,
): readonly string[] => {
  const allowed = new AllowedNetworks(allowNetworks)
  return hooks.flatMap((hook) => {
    const problem = problemOf(hook, environment, allowed)
    return problem === undefined ? [] : [`The hook ${hookName(hook)} (${hook.moment}) will be refused. ${problem}`]
  })
}

const problemOf = (hook: HookSettings, environment: Environment, allowed: AllowedNetworks): string | undefined => {
  const variables = new Variables(environment)
  try {
    if ('channelId' in hook) botToken(variables, hook.botTokenEnv)
    if (!('url' in hook)) return undefined
    const address = addressProblem(variables.fill(hook.url), allowed)
    if (hook.type !== 'webhook' || address !== undefined) return address
    filledHeaders(hook.headers, variables)
    if (hook.secret !== undefined) signedHeaders('', variables.fill(hook.secret))
    return undefined
  } catch (error) {
    if (error instanceof MissingVariable || error instanceof WeakSecret || error instanceof BadHeader)
      return error.message
    throw error
  }
}
