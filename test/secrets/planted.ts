const letters = (count: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'.repeat(10).slice(0, count)
const hex = (count: number): string => '0123456789abcdef'.repeat(10).slice(0, count)

/** A key in the words around it. */
export interface Planted {
  readonly text: string
  readonly secret: string
}

const plain = (secret: string): Planted => ({ text: secret, secret })
const within = (before: string, secret: string, after = ''): Planted => ({ text: `${before}${secret}${after}`, secret })

const PEM = `-----BEGIN PRIVATE KEY-----\n${letters(64)}\n${letters(40)}\n-----END PRIVATE KEY-----`

/** One secret of every form that is known. None of them opens anything. */
export const PLANTED: Readonly<Record<string, Planted>> = {
  'Amazon key id': plain(`AKIA${'ABCDEFGH23456789'}`),
  'Amazon secret': within('aws_secret_access_key = ', `${letters(30)}/${letters(9)}`),
  Anthropic: plain(`sk-ant-api03-${letters(40)}-AA`),
  OpenAI: plain(`sk-${letters(48)}`),
  'OpenAI of a project': plain(`sk-proj-${letters(40)}_${letters(10)}`),
  GitHub: plain(`ghp_${letters(36)}`),
  'GitHub fine-grained': plain(`github_pat_${letters(22)}_${letters(50)}`),
  GitLab: plain(`glpat-${letters(20)}`),
  Google: plain(`AIza${letters(35)}`),
  'Google access': plain(`ya29.${letters(60)}`),
  Slack: plain(`xoxb-123456789012-${letters(24)}`),
  'Slack hook': within('https://hooks.slack.com/services/', `T0000001/B0000001/${letters(24)}`),
  Stripe: plain(`sk_live_${letters(24)}`),
  npm: plain(`npm_${letters(36)}`),
  PyPI: plain(`pypi-${letters(80)}`),
  'Hugging Face': plain(`hf_${letters(34)}`),
  SendGrid: plain(`SG.${letters(22)}.${letters(43)}`),
  DigitalOcean: plain(`dop_v1_${hex(64)}`),
  Docker: plain(`dckr_pat_${letters(27)}`),
  Telegram: plain(`123456789:AA${letters(33)}`),
  'JSON web token': plain(`eyJhbGciOiJIUzI1NiJ9.eyJ${letters(30)}.${letters(43)}`),
  'private key': plain(PEM),
  'bearer header': within('Authorization: Bearer ', `opaque-${letters(20)}`),
  cookie: within('Cookie: ', `session-${letters(20)}`, '"'),
  'password in an address': within('postgres://bob:', `pg-${letters(12)}`, '@db.example.com/app'),
  'variable of a shell': within('export ACME_TOKEN=', `acme-${letters(12)}`),
  'variable that is a key': within('PAYMENT_KEY=', `pay-${letters(12)}`),
  'value in JSON': within('{"apiKey": "', `json-${letters(12)}`, '"}'),
  'value in YAML': within('password: ', `yaml-${letters(12)}`),
  flag: within('deploy --token ', `flag-${letters(12)}`),
}
