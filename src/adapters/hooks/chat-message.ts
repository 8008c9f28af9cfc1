import type { HookPayload } from '../../domain/hook-payload.ts'

/** Discord takes no more. */
const MOST_CHARACTERS = 2_000
/** A reason or an error may be long; a message in a channel should not be. */
const MOST_DETAIL = 500

const shortened = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)

/** What happened, in a sentence. Prompts are left out: a channel has other readers than the agent. */
const sentence = (payload: HookPayload): string => {
  if ('context' in payload) {
    const { usage_percent, input_tokens, context_window } = payload.context
    return `the window is ${usage_percent} % full (${input_tokens} of ${context_window} tokens)`
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

const detail = (text: string): string => shortened(text.replaceAll(/\s+/g, ' ').trim(), MOST_DETAIL)

const message = (payload: HookPayload): string => {
  const { agent_name, job_id, branch_name } = payload.session
  const about = [job_id && `job ${job_id}`, branch_name && `branch ${branch_name}`].filter(Boolean).join(', ')
  return `${agent_name}${about === '' ? '' : ` (${about})`}: ${sentence(payload)}`
}

/** In Slack these characters begin mentions and links. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A message as Slack takes it. */
export const slackBody = (payload: HookPayload): object => ({ text: slackText(message(payload)) })

/** A message as Discord takes it. It mentions nobody, whatever its text says. */
export const discordBody = (payload: HookPayload): object => ({
  content: shortened(message(payload), MOST_CHARACTERS),
  allowed_mentions: { parse: [] },
})
