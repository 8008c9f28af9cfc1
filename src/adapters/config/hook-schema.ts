import { z } from 'zod'
import { isSafeAddress } from '../../domain/hooks/hook-address.ts'
import { hasVariable, secretProblem } from '../../domain/hooks/hook-secret.ts'
import {
  DEFAULT_SLACK_TOKEN,
  HOOK_EVENTS,
  HOOK_METHODS,
  HOOK_MOMENTS,
  type HookFunction,
  type HookMoment,
  type HookSettings,
  type SlackChannel,
} from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import {
  commandLine,
  duration,
  flag,
  LONGEST_STEP_MS,
  list,
  meant,
  problemText,
  section,
  textLike,
  textValue,
  word,
} from './values.ts'

const CHANNEL = /^[A-Z][A-Z0-9]{5,20}$/
const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/

/** Keys of a hook that writes to Slack as a bot, beside those that every hook has. */
const slackKeys = {
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
const toOnePlace = ({ value, issues }: z.core.ParsePayload<SlackContent>): void => {
  const wrong = (problem: string, ...path: readonly string[]): void =>
    void issues.push({ code: 'custom', input: undefined, message: problemText(problem, ADVICE), path: [...path] })
  if (value.url === undefined && value.channel_id === undefined) wrong('it says neither url nor channel_id')
  if (value.url !== undefined && value.channel_id !== undefined) wrong('url is there as well', 'channel_id')
  if (value.channel_id === undefined && value.bot_token_env !== undefined)
    wrong('it goes with channel_id', 'bot_token_env')
}

/** Discord has channels too, and other ways into them. */
const noDiscordChannel = z
  .undefined({
    error: problemText(
      'Discord is written to by the address of a webhook',
      `Make a webhook in the settings of the channel, and write url: \${DISCORD_WEBHOOK_URL}.`,
    ),
  })
  .optional()

/** The place a message goes to, as the library has it. */
const slackPlace = ({
  url = '',
  channel_id: channelId,
  bot_token_env: botTokenEnv = DEFAULT_SLACK_TOKEN,
}: SlackContent): { readonly url: string } | SlackChannel =>
  channelId === undefined ? { url } : { channelId, botTokenEnv }

const HOOK_TYPES = ['shell', 'webhook', 'slack', 'discord', 'function'] as const

const SHELL_TIMEOUT_MS = 30_000
const WEB_TIMEOUT_MS = 10_000

const DOT_PATH = /^[\w-]{1,64}(\.[\w-]{1,64}){0,15}$/
const VARIABLE = /^\$\{[A-Za-z_]\w*\}$/
const HEADER_NAME = /^[A-Za-z0-9-]{1,128}$/

const isHttps = (raw: string): boolean => VARIABLE.test(raw) || (URL.canParse(raw) && isSafeAddress(new URL(raw)))

const url = textLike(
  isHttps,
  'an https address',
  `Write one such as https://example.org/hook, or \${NAME} for a variable.`,
)

const oneLine = textLike(
  (raw) => !/[\r\n\0]/.test(raw),
  'a text on one line',
  `Write one line; \${NAME} stands for a variable.`,
)

/** One that names a variable is looked at when it is used. */
const secret = oneLine.superRefine((raw, context) => {
  const wrong = hasVariable(raw) ? undefined : secretProblem(raw)
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: problemText(wrong.problem, wrong.advice) })
})

const headers = z.record(z.string().regex(HEADER_NAME), oneLine, {
  error: ({ code }) =>
    code === 'invalid_key'
      ? problemText('it is not the name of a header', 'Use letters, digits and hyphens.')
      : problemText('it is not a section of headers', 'Write names and values, such as X-Team: core.'),
})

const isFunction = (raw: unknown): boolean => typeof raw === 'function'

const common = {
  name: textValue.optional(),
  on_events: list(word(HOOK_EVENTS), '[completed, failed]').optional(),
  when: textLike(
    (raw) => DOT_PATH.test(raw),
    'a dot path',
    'Write names with dots between them, such as session.branch_name.',
  ).optional(),
  continue_on_error: flag.optional(),
  timeout: duration(LONGEST_STEP_MS).optional(),
}

const hook = z.discriminatedUnion(
  'type',
  [
    section({ type: z.literal('shell'), ...common, command: commandLine }),
    section({
      type: z.literal('webhook'),
      ...common,
      url,
      method: word(HOOK_METHODS).optional(),
      headers: headers.optional(),
      secret: secret.optional(),
    }),
    section({ type: z.literal('slack'), ...common, url: url.optional(), ...slackKeys }).check(toOnePlace),
    section({ type: z.literal('discord'), ...common, url, channel_id: noDiscordChannel }),
    section({
      type: z.literal('function'),
      ...common,
      run: z.custom<HookFunction>(isFunction, {
        error: problemText('it is not a function', 'Give one from a program; a file cannot hold one.'),
      }),
    }),
  ],
  {
    error: ({ code, input }) =>
      code === 'invalid_union'
        ? problemText('the type of the hook is not known', meant((input as { type?: unknown }).type, HOOK_TYPES))
        : problemText('it is not a hook', 'Write keys, such as type: shell and command: npm test.'),
  },
)

/** Hooks by the moment they are called at. */
export const hooksSchema = section(
  Object.fromEntries(
    HOOK_MOMENTS.map((moment) => [moment, list(hook, '[{ type: shell, command: npm test }]').nullish()]),
  ) as Record<HookMoment, z.ZodOptional<z.ZodNullable<z.ZodArray<typeof hook>>>>,
)

/** The hooks of a file as the library has them: in one list, each with its moment. */
export const toHooks = (given: z.output<typeof hooksSchema>): readonly HookSettings[] =>
  HOOK_MOMENTS.flatMap((moment) => (given[moment] ?? []).map((one) => toHook(moment, one)))

/** Hooks by name or type only: addresses and headers may hold secrets. */
export const hookNames = (hooks: readonly HookSettings[], moment: string): string | undefined =>
  hooks
    .filter((hook) => hook.moment === moment)
    .map(({ name, type }) => (name === undefined ? type : `${name} (${type})`))
    .join(', ') || undefined

const toHook = (moment: HookMoment, given: z.output<typeof hook>): HookSettings => {
  const { name, on_events: onEvents, when, continue_on_error: shouldContinueOnError = true } = given
  const timeoutMs = given.timeout ?? (given.type === 'shell' ? SHELL_TIMEOUT_MS : WEB_TIMEOUT_MS)
  const shared = { moment, ...defined({ name, onEvents, when }), shouldContinueOnError, timeoutMs }
  switch (given.type) {
    case 'shell':
      return { ...shared, type: given.type, command: given.command }
    case 'webhook':
      return {
        ...shared,
        type: given.type,
        url: given.url,
        method: given.method ?? 'POST',
        headers: given.headers ?? {},
        ...defined({ secret: given.secret }),
      }
    case 'slack':
      return { ...shared, type: given.type, ...slackPlace(given) }
    case 'discord':
      return { ...shared, type: given.type, url: given.url }
    case 'function':
      return { ...shared, type: given.type, run: given.run }
    default:
      return given satisfies never
  }
}
