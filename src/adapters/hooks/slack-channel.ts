import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import { slackBody } from './chat-message.ts'
import type { Deadline } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'
import { sendRequest } from './send.ts'
import { MissingVariable, Variables } from './variables.ts'
import type { WebSurroundings } from './web-hook.ts'

/** Where Slack's methods are called. */
export const SLACK_API = 'https://slack.com/api'

type ChannelHook = Extract<HookSettings, { readonly channelId: string }>

/** Writes a message about the payload into a channel, as a bot. */
export const writeToSlack = async (
  { channelId, botTokenEnv }: ChannelHook,
  payload: HookPayload,
  deadline: Deadline,
  { environment, access, slackApi }: WebSurroundings & { readonly slackApi: string },
): Promise<Outcome> => {
  const token = tokenIn(new Variables(environment), botTokenEnv)
  if (typeof token !== 'string') return token
  const request = {
    url: `${slackApi}/chat.postMessage`,
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'batonpass',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ channel: channelId, ...slackBody(payload, environment) }),
    secrets: [token],
  }
  const outcome = await sendRequest(request, deadline, access)
  return outcome.error === undefined ? checkedAnswer(outcome) : outcome
}

/** A token is one word; anything else would end the header it stands in. */
const TOKEN = /^[\x21-\x7e]{6,512}$/

const tokenIn = (variables: Variables, name: string): string | Outcome => {
  try {
    return botToken(variables, name)
  } catch (error) {
    if (error instanceof MissingVariable) return failed('hook.variable_missing', error.message)
    throw error
  }
}

/** The token of a bot. @throws MissingVariable when the variable is not set, or holds none */
export const botToken = (variables: Variables, name: string): string => {
  const token = variables.fill(`\${${name}}`)
  if (TOKEN.test(token)) return token
  throw new MissingVariable(name, 'is set, and holds no token: it is empty, short, or not one word')
}

/** Slack answers with status 200 whatever happened; its answer says whether the message was taken. */
const checkedAnswer = (outcome: Outcome): Outcome => {
  const { ok, error } = answerIn(outcome.output)
  if (ok === true) return outcome
  if (ok !== false) return failed('hook.not_accepted', 'The answer is not one of Slack: it has no "ok".', outcome)
  const reason = typeof error === 'string' && REASON.test(error) ? error : 'no reason given'
  const sentences = [`Slack did not take the message (${reason}).`, ADVICE.get(reason) ?? '']
  return failed('hook.not_accepted', sentences.join(' ').trim(), outcome)
}

/** Slack's reasons are words; anything else is not repeated. */
const REASON = /^[a-z0-9_]{1,64}$/

const answerIn = (text: string): { readonly ok?: unknown; readonly error?: unknown } => {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : {}
  } catch {
    return {}
  }
}

/** The mistakes that people make most, and what to do about each. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['channel_not_found', 'Check channel_id, and that the bot may see the channel.'],
  ['not_in_channel', 'Invite the bot to the channel.'],
  ['invalid_auth', 'Check the token.'],
  ['not_authed', 'Check the token.'],
  ['token_revoked', 'Make a new token.'],
  ['missing_scope', 'Give the bot the scope chat:write.'],
])
