import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { withoutEnd } from '../../domain/kernel/without-end.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { formsOf } from './hidden-values.ts'

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

/** More than is ever sent, and little enough to look through. */
const MOST_READ = 4_000

const HIDDEN = '[secret]'

/** Variables whose values nobody in a channel should read, by their names. */
const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|dsn|database_url|_pwd$/i
const SHORTEST_VALUE = 8

/** Keys of well-known services, whatever stands around them. */
const KNOWN_KEYS = new RegExp(
  [
    '(?:sk|pk|rk)[-_][\\w-]{8,}',
    'gh[pousr]_\\w{16,}|github_pat_\\w{16,}|glpat-[\\w-]{16,}|npm_\\w{16,}|hf_\\w{16,}',
    'xox[a-z]-[\\w-]{8,}|xapp-[\\w-]{8,}|whsec_[\\w+/=-]{8,}',
    '(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\\w-]{20,}|ya29\\.[\\w-]{8,}|SG\\.[\\w-]{16,}',
    'eyJ[\\w-]{8,}(?:\\.[\\w-]*){0,2}',
  ]
    .map((one) => `\\b(?:${one})`)
    .join('|'),
  'g',
)
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?=-----END|$)(?:-----END [A-Z ]{0,40}-----)?/g
const CREDENTIAL = /\b(bearer|basic|token)( +)[\w.~+/=-]{6,}/gi
const ASSIGNED =
  /((?:key|token|secret|password|passwd|credentials?|authorization)["']?\s{0,3}[:=]\s{0,3})("[^"]*"?|'[^']*'?|[^\s,;"']+)/gi
/** Long runs that are no word of any language: digests, and keys of services nobody has heard of. */
const OPAQUE = /\b(?=[A-Za-z+=]*\d)(?=[\d+=]*[A-Za-z])[A-Za-z0-9+=]{32,}/g
const LINK = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s()[\]{}<>"']*|\b(?:mailto|javascript|data|tel):[^\s()[\]{}<>"']+/gi

/**
 * A text of an agent as other people may read it in a channel: on one line, without secrets, without links, and calling
 * nobody. An agent that was misled writes what somebody else wants to be read, or clicked.
 */
export const chatText = (text: string, environment: Environment): string => {
  const oneLine = onOneLine(withoutSecrets(withoutCutWord(text), environment).replaceAll(/\s+/gu, ' ').trim())
  return oneLine
    .replaceAll(LINK, linkTo)
    .replaceAll(/\bwww\.(?=\w)/gi, 'www ')
    .replaceAll(/@(?=[\p{L}\p{N}_!&])/gu, '@ ')
}

/** A cut may go through a secret, so that nobody knows what is left of it. */
const withoutCutWord = (text: string): string =>
  text.length <= MOST_READ ? text : withoutEnd(text.slice(0, MOST_READ), /\S/)

const withoutSecrets = (text: string, environment: Environment): string => {
  const values = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST_VALUE && SECRET_NAME.test(name) ? [value.trim()] : [],
  )
  return formsOf(values)
    .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
    .replaceAll(PRIVATE_KEY, HIDDEN)
    .replaceAll(CREDENTIAL, `$1$2${HIDDEN}`)
    .replaceAll(KNOWN_KEYS, HIDDEN)
    .replaceAll(ASSIGNED, (whole, name: string, value: string) =>
      /^\d{1,9}$/.test(value) ? whole : `${name}${HIDDEN}`,
    )
    .replaceAll(OPAQUE, HIDDEN)
}

/** The host says enough of what could not be reached; the rest may be a secret. */
const linkTo = (link: string): string => {
  const host = URL.canParse(link) ? new URL(link).hostname : ''
  return host === '' ? '(link)' : `(link to ${host})`
}
