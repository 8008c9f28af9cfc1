import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import { chatText } from './chat-text.ts'
import type { Environment } from './variables.ts'

/** Discord takes no more. */
const MOST_CHARACTERS = 2_000
/** A reason or an error may be long; a message in a channel should not be. */
const MOST_DETAIL = 500

/** A cut does not go through a character, nor between a mark and what it escapes. */
const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff\\]$/, '')}…`

/** The event in a sentence. Prompts are left out: a channel has other readers than the agent. */
const sentence = (payload: HookPayload, safe: Safe): string => {
  const detail = (text: string): string => shortened(safe(text), MOST_DETAIL)
  if ('context' in payload) {
    const { usage_percent, input_tokens, context_window } = payload.context
    return `the window is ${Math.round(usage_percent * 10_000) / 100} % full (${input_tokens} of ${context_window} tokens)`
  }
  if ('error' in payload) return `the run ended: ${payload.hook_event_name} (${detail(payload.error.message)})`
  if ('handoff' in payload) {
    return `handoff ${payload.handoff.handoff_number} is completed (${detail(payload.handoff.reason)})`
  }
  if ('run' in payload) {
    const { error } = payload.run
    return `the run ended: ${payload.hook_event_name}${error === null ? '' : ` (${detail(error)})`}`
  }
  return payload.session.is_continuation ? 'a new session continues the work' : 'a session starts'
}

/** How a text becomes one that anybody in the channel may read. */
type Safe = (text: string) => string

const message = (payload: HookPayload, environment: Environment): string => {
  const safe = (text: string): string => chatText(text, environment)
  const { agent_name, job_id, branch_name } = payload.session
  const about = [job_id && `job ${safe(job_id)}`, branch_name && `branch ${safe(branch_name)}`]
    .filter(Boolean)
    .join(', ')
  return `${safe(agent_name)}${about === '' ? '' : ` (${about})`}: ${sentence(payload, safe)}`
}

/** In Slack these characters begin mentions and links. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A message as Slack takes it: plain text, in which nothing is linked, shown in advance or mentioned. */
export const slackBody = (payload: HookPayload, environment: Environment): object => ({
  text: slackText(message(payload, environment)),
  mrkdwn: false,
  parse: 'none',
  link_names: false,
  unfurl_links: false,
  unfurl_media: false,
})

/** Characters that begin styles, links, mentions or quotes in Discord's markdown. */
const DISCORD_MARKS = /[\\*_~`|>#[\]<]/g
/** Discord's flag for a message whose links are not shown in advance. */
const SUPPRESS_EMBEDS = 1 << 2

/** A message as Discord takes it. It mentions nobody, whatever its text says. */
export const discordBody = (payload: HookPayload, environment: Environment): object => ({
  content: shortened(message(payload, environment).replaceAll(DISCORD_MARKS, '\\$&'), MOST_CHARACTERS),
  allowed_mentions: { parse: [] },
  flags: SUPPRESS_EMBEDS,
})
