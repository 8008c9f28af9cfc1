import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { discordBody, slackBody } from './chat-message.ts'
import type { Deadline } from './deadline.ts'
import { BadHeader, filledHeaders } from './header-values.ts'
import { addressSecrets, secretsInHeader } from './hidden-values.ts'
import { failed, type Outcome } from './outcome.ts'
import { type HookRequest, type NetworkAccess, sendRequest } from './send.ts'
import { signedHeaders, WeakSecret } from './signature.ts'
import { MissingVariable, Variables } from './variables.ts'

type WebHook = Extract<HookSettings, { readonly url: string }>

/** Everything that a request is sent with. */
export interface WebSurroundings {
  readonly environment: Environment
  readonly access: NetworkAccess
}

/** Sends the payload, or a message about it, to a server. */
export const runWeb = async (
  hook: WebHook,
  payload: HookPayload,
  deadline: Deadline,
  { environment, access }: WebSurroundings,
): Promise<Outcome> => {
  try {
    return await sendRequest(requestOf(hook, payload, environment), deadline, access)
  } catch (error) {
    if (error instanceof MissingVariable) return failed('hook.variable_missing', error.message)
    if (error instanceof WeakSecret) return failed('hook.secret_refused', error.message)
    if (error instanceof BadHeader) return failed('hook.header_refused', error.message)
    throw error
  }
}

const requestOf = (hook: WebHook, payload: HookPayload, environment: Environment): HookRequest => {
  const variables = new Variables(environment)
  const url = variables.fill(hook.url)
  const plain = { url, method: 'POST', headers: OURS }
  switch (hook.type) {
    case 'webhook': {
      const body = JSON.stringify(payload)
      const headers = filledHeaders(hook.headers, variables)
      const secret = hook.secret === undefined ? undefined : variables.fill(hook.secret)
      const signed = secret === undefined ? {} : signedHeaders(body, secret)
      const secrets = [
        ...addressSecrets(url),
        ...variables.used,
        ...Object.values(headers).flatMap(secretsInHeader),
        ...(secret ? [secret] : []),
      ]
      return { url, method: hook.method, headers: { ...OURS, ...headers, ...signed }, body, secrets }
    }
    case 'slack':
      return {
        ...plain,
        body: JSON.stringify(slackBody(payload, environment)),
        secrets: [...addressSecrets(url), ...variables.used],
      }
    case 'discord':
      return {
        ...plain,
        body: JSON.stringify(discordBody(payload, environment)),
        secrets: [...addressSecrets(url), ...variables.used],
      }
    default:
      return hook satisfies never
  }
}

const OURS = { 'content-type': 'application/json', 'user-agent': 'batonpass' } as const
