import { type Hide, SHORTEST_SECRET } from './hidden-text.ts'
import { replaceRuns, runOf, type SecretForm } from './runs.ts'

/**
 * The formats of well-known keys: how one begins, and what follows. A key begins where no letter or digit stands before
 * it, and the rest is one class of characters with nothing after it that could fail: so each is found in linear time.
 */
const FORMATS: readonly (readonly [begins: readonly string[], characters: string, least: number])[] = [
  // Amazon
  [['AKIA', 'ASIA', 'ABIA', 'ACCA'], '[A-Z0-9]', 16],
  // Anthropic, OpenAI and others that took the form over
  [['sk-ant-', 'sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-or-v1-', 'sk-lf-'], '[A-Za-z0-9_-]', 10],
  [['sk-'], '[A-Za-z0-9_-]', 20],
  // Atlassian
  [['ATATT3', 'ATCTT3'], '[A-Za-z0-9_=-]', 20],
  // Databricks, DigitalOcean, Docker, Doppler
  [['dapi'], '[a-f0-9]', 32],
  [['dop_v1_', 'doo_v1_', 'dor_v1_'], '[a-f0-9]', 40],
  [['dckr_pat_', 'dckr_oat_'], '[A-Za-z0-9_-]', 20],
  [['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'], '[A-Za-z0-9._-]', 20],
  // GitHub
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], '[A-Za-z0-9]', 20],
  [['github_pat_'], '[A-Za-z0-9_]', 20],
  // GitLab
  [
    ['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'gloas-', 'glsoat-', 'glimt-', 'glagent-', 'GR1348941'],
    '[A-Za-z0-9_.-]',
    16,
  ],
  // Google
  [['AIza'], '[A-Za-z0-9_-]', 30],
  [['ya29.', 'GOCSPX-', '1//0'], '[A-Za-z0-9_-]', 20],
  // Grafana, Groq, HashiCorp, Hugging Face, Linear, Mailgun
  [['glsa_', 'glc_'], '[A-Za-z0-9_=+/-]', 20],
  [['gsk_', 'xai-', 'pplx-', 'fw_'], '[A-Za-z0-9]', 20],
  [['hvs.', 'hvb.', 'hvr.'], '[A-Za-z0-9_-]', 20],
  [['hf_', 'api_org_', 'lin_api_', 'lin_oauth_'], '[A-Za-z0-9]', 20],
  [['key-'], '[a-f0-9]', 32],
  // npm, PyPI, RubyGems
  [['npm_'], '[A-Za-z0-9]', 30],
  [['pypi-'], '[A-Za-z0-9_-]', 30],
  [['rubygems_'], '[a-f0-9]', 40],
  // Notion, Postman, Replicate, SendGrid, Sentry, Shopify
  [['ntn_', 'secret_'], '[A-Za-z0-9]', 40],
  [['PMAK-'], '[a-f0-9-]', 40],
  [['r8_'], '[A-Za-z0-9]', 30],
  [['SG.'], '[A-Za-z0-9_.-]', 40],
  [['sntrys_', 'sntryu_'], '[A-Za-z0-9_=+/-]', 20],
  [['shpat_', 'shpca_', 'shppa_', 'shpss_'], '[a-fA-F0-9]', 32],
  // Slack
  [['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'], '[A-Za-z0-9.-]', 10],
  // Stripe, Supabase, Telegram, Twilio
  [['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], '[A-Za-z0-9+/=]', 10],
  [['sbp_'], '[a-f0-9]', 40],
  [['SK'], '[a-f0-9]', 32],
  // age
  [['AGE-SECRET-KEY-1'], '[A-Z0-9]', 50],
]

const escaped = (word: string): string => word.replaceAll(/[.*+?^$|()[\]{}\\/]/g, '\\$&')

interface Format extends SecretForm {
  readonly begins: readonly string[]
}

const DIGIT = /[0-9]/

/** A form like this has at least so many characters after its beginning. */
const formOf = (before: string, characters: string, least: number): SecretForm => ({
  begin: new RegExp(`${before}${characters}{${least}}`, 'gi'),
  run: runOf(characters),
})

const KEYS: readonly Format[] = FORMATS.map(([begins, characters, least]) => ({
  begins,
  begin: new RegExp(`(?<![A-Za-z0-9])(?:${begins.map(escaped).join('|')})${characters}{${least}}`, 'g'),
  run: runOf(characters),
  // A class of a style sheet may begin like this.
  isSecret: (key) => DIGIT.test(key.slice(2)),
}))

/** The addresses of chat hooks are keys: having one is enough to post. */
const CHAT_HOOK = formOf(
  '(hooks\\.slack\\.com/(?:services|workflows|triggers)/|discord(?:app)?\\.com/api/webhooks/)',
  '[A-Za-z0-9/_-]',
  16,
)

const BOT = formOf('(?<![A-Za-z0-9])[0-9]{8,10}:AA', '[A-Za-z0-9_-]', 30)

/** Parts in Base64 with points between them, the first of which is an object. */
const WEB_TOKEN: SecretForm = {
  begin: /(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_.-]{16}/g,
  run: runOf('[A-Za-z0-9_.-]'),
  isSecret: (token) => token.includes('.'),
}

const HEADER: SecretForm = {
  ...formOf(
    '(authorization["\']?\\s{0,3}[:=]\\s{0,3}["\']?(?:[A-Za-z][A-Za-z-]{1,19}[ \\t]{1,3})?)',
    '[^\\s"\'`,;\\\\]',
    SHORTEST_SECRET,
  ),
  isSecret: (value) => !isReference(value),
}

const BEARER: SecretForm = {
  ...formOf('((?<![A-Za-z])(?:bearer|basic)[ \\t]{1,3})', '[A-Za-z0-9._~+/=-]', 16),
  // "Bearer authentication" is no credential.
  isSecret: (value) => DIGIT.test(value),
}

const COOKIE = formOf(
  '((?<![A-Za-z])(?:set-)?cookie["\']?\\s{0,3}:\\s{0,3}["\']?)',
  '[^\\r\\n"\'`\\\\]',
  SHORTEST_SECRET,
)

/** Up to the last @ before a slash or a blank: a password may hold one. */
const URL_PASSWORD = /(:\/\/[^\s/:@"'`<>]{0,256}:)([^\s/"'`<>]{1,256})(?=@[^\s/@"'`<>])/g

/** The text with every key of a well-known format hidden. */
export const hideKeys = (text: string, hide: Hide): string => {
  const key = (): string => hide('key')
  let shown = text
  for (const format of KEYS)
    if (format.begins.some((word) => shown.includes(word))) shown = replaceRuns(shown, format, key)
  if (shown.includes('.com/')) shown = replaceRuns(shown, CHAT_HOOK, key)
  if (shown.includes(':AA')) shown = replaceRuns(shown, BOT, key)
  return shown.includes('eyJ') ? replaceRuns(shown, WEB_TOKEN, () => hide('json-web-token')) : shown
}

/** The text with the credentials in headers and addresses hidden. */
export const hideCredentials = (text: string, hide: Hide): string => {
  let shown = text
  for (const form of [HEADER, BEARER, COOKIE]) shown = replaceRuns(shown, form, () => hide('header'))
  if (!shown.includes('://')) return shown
  return shown.replace(URL_PASSWORD, (whole, before: string, value: string) =>
    value.length < SHORTEST_SECRET || isReference(value) ? whole : `${before}${hide('url-password')}`,
  )
}

const REFERENCE =
  /^(?:\$[{(]|\$[A-Za-z_][A-Za-z0-9_]*$|%[A-Za-z_(]|\{\{|<|\*{3}|\.{3}|…|process\.env|os\.environ|import\.meta)/

/** Whether a value only says where the secret is, or that it was left out. */
export const isReference = (value: string): boolean => REFERENCE.test(value.slice(0, 200))
