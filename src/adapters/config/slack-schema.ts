import { z } from 'zod'
import { DEFAULT_SLACK_TOKEN, type SlackChannel } from '../../domain/hooks/hook-settings.ts'
import { said, textLike } from './values.ts'

const CHANNEL = /^[A-Z][A-Z0-9]{5,20}$/
const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/

/** Keys of a hook that writes to Slack as a bot, beside those that every hook has. */
export const slackKeys = {
  channel_id: textLike(
    (raw) => CHANNEL.test(raw),
    'the id of a channel',
    'Write one such as C0123456789; Slack shows it at the end of "About" of the channel.',
  ).optional(),
  bot_token_env: textLike(
    (raw) => VARIABLE_NAME.test(raw),
    'the name of a variable',
    `Write the name of the variable that holds the token, such as ${DEFAULT_SLACK_TOKEN}, and not the token itself.`,
  ).optional(),
}

interface SlackContent {
  readonly url?: string | undefined
  readonly channel_id?: string | undefined
  readonly bot_token_env?: string | undefined
}

const ADVICE = `Write url: \${SLACK_WEBHOOK_URL} for a webhook, or channel_id: C0123456789 with a token in ${DEFAULT_SLACK_TOKEN}.`

/** A message goes to a webhook, or to a channel as a bot. */
export const toOnePlace = ({ value, issues }: z.core.ParsePayload<SlackContent>): void => {
  const wrong = (problem: string, ...path: readonly string[]): void =>
    void issues.push({ code: 'custom', input: undefined, message: said(problem, ADVICE), path: [...path] })
  if (value.url === undefined && value.channel_id === undefined) wrong('it says neither url nor channel_id')
  if (value.url !== undefined && value.channel_id !== undefined) wrong('url is there as well', 'channel_id')
  if (value.channel_id === undefined && value.bot_token_env !== undefined)
    wrong('it goes with channel_id', 'bot_token_env')
}

/** Discord has channels too, and other ways into them. */
export const noDiscordChannel = z
  .undefined({
    error: said(
      'Discord is written to by the address of a webhook',
      `Make a webhook in the settings of the channel, and write url: \${DISCORD_WEBHOOK_URL}.`,
    ),
  })
  .optional()

/** The place a message goes to, as the library has it. */
export const slackPlace = ({
  url = '',
  channel_id: channelId,
  bot_token_env: botTokenEnv = DEFAULT_SLACK_TOKEN,
}: SlackContent): { readonly url: string } | SlackChannel =>
  channelId === undefined ? { url } : { channelId, botTokenEnv }
