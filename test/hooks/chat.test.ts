import { describe, expect, it } from 'vitest'
import { NodeHookRunner } from '../../src/entry/hooks.ts'
import { afterRun, chat, onError, serve } from './samples.ts'

/** What a message in a channel says of an error, as Slack and Discord are sent it. */
const toldOf = async (
  message: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly slack: string; readonly discord: string }> => {
  await using server = await serve()
  const runner = new NodeHookRunner({ environment })
  const payload = { ...onError, error: { code: null, message } }
  for (const type of ['slack', 'discord'] as const)
    expect((await runner.run(chat(type, server.url), payload)).ok).toBe(true)
  const [slack, discord] = server.received.map(({ body }) => JSON.parse(body) as Readonly<Record<string, string>>)
  return { slack: slack?.text ?? '', discord: discord?.content ?? '' }
}

const HOME = 'claude-code (job job-7, branch fix): the run ended: failed'

describe('secrets in what an agent complained about', () => {
  it.each([
    ['sk-ant-api03-AbCdEf0123456789-xyz', 'a key of Anthropic'],
    ['sk-proj-AbCdEf0123456789', 'a key of OpenAI'],
    ['ghp_AbCdEf0123456789AbCdEf0123456789abcd', 'a token of GitHub'],
    ['github_pat_11ABCDEFG0123456789_abcdef', 'a fine-grained one'],
    ['glpat-AbCdEf0123456789-xyz', 'one of GitLab'],
    ['xoxb-123456789012-abcdefghij', 'one of Slack'],
    ['AKIAIOSFODNN7EXAMPLE', 'one of AWS'],
    ['AIzaSyA-1234567890abcdefghijklmnopqrstu', 'one of Google'],
    ['npm_AbCdEf0123456789AbCdEf0123456789abcd', 'one of npm'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'a web token'],
    ['Z9x8Y7w6V5u4T3s2R1q0P9o8N7m6L5k4J3', 'something long that is no word'],
  ])('%s is hidden: %s', async (key) => {
    const { slack, discord } = await toldOf(`Invalid credential ${key} was given`)
    expect(slack).toBe(`${HOME} (Invalid credential [secret] was given)`)
    expect(discord).not.toContain(key.slice(4, 20))
  })

  it.each([
    ['API_KEY=hunter2hunter2', 'hunter2'],
    ['"password": "hunter2 and more"', 'hunter2'],
    ['Authorization: Bearer hunter2hunter2', 'hunter2'],
    ['Basic aHVudGVyMjpodW50ZXIy', 'aHVudGVy'],
    ['client_secret = hunter2hunter2;', 'hunter2'],
    ['postgres://user:hunter2@db.example/agents', 'hunter2'],
    ['https://api.example/v1?access_token=hunter2', 'hunter2'],
    ['-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----', 'hunter2'],
    ['-----BEGIN PRIVATE KEY-----\nhunter2 and never an end', 'hunter2'],
  ])('is hidden by what stands around it: %j', async (text, secret) => {
    const { slack, discord } = await toldOf(`It said ${text}`)
    expect(slack + discord).not.toContain(secret)
    expect(slack).toContain('It said')
  })

  it('are hidden when they are values of variables, plain or encoded', async () => {
    const value = 'swordfish & more'
    const environment = { ANTHROPIC_API_KEY: value, HOME: '/home/somebody', PWD: '/home/somebody/work' }
    const texts = [value, encodeURIComponent(value), Buffer.from(`user:${value}`).toString('base64')]
    const { slack } = await toldOf(`Seen: ${texts.join(' ')} in /home/somebody/work`, environment)
    expect(slack).not.toMatch(/swordfish|c3dvcmRma|3b3JkZmlza/)
    expect(slack).toContain('in /home/somebody/work')
  })

  it('do not show in halves where a long text is cut', async () => {
    for (const length of [480, 490, 495, 3_985, 3_990, 3_995]) {
      const { slack, discord } = await toldOf(`${'x '.repeat(length / 2)}sk-ant-api03-AbCdEf0123456789`)
      expect(slack + discord).not.toMatch(/sk-|AbCdEf/)
    }
    const many = await toldOf(`${'sk-ant-api03-AbCdEf0123456789 '.repeat(140)}`)
    expect(many.slack + many.discord).not.toMatch(/sk-|AbCdEf|api03/)
  })

  it('are not seen in words that only look like it', async () => {
    const text = 'input_tokens: 170000, turn 3 of 0190a0a0-0000-7000-8000-000000000001 in src/key-store.ts'
    expect((await toldOf(text)).slack).toBe(`${HOME} (${text})`)
  })
})

describe('what would be clicked, or call somebody', () => {
  it.each([
    ['see https://evil.example/login?next=1', 'see (link to evil.example)'],
    ['[Sign in](https://evil.example)', '[Sign in]((link to evil.example))'],
    ['slack://open and mailto:a@evil.example', '(link to open) and (link)'],
    ['www.evil.example', 'www evil.example'],
    ['@everyone @here @channel @ada', '@ everyone @ here @ channel @ ada'],
    ['red \u001b[31m \u202egnp.exe', 'red \\u{1b}[31m \\u{202e}gnp.exe'],
    ['one\ntwo\r\n\tthree', 'one two three'],
  ])('is a text in Slack: %j', async (text, said) => {
    const { slack } = await toldOf(text)
    expect(slack).not.toMatch(/https?:|@(everyone|here|channel|ada)/)
    expect(slack).toBe(`${HOME} (${said})`)
  })

  it('is a text in Discord', async () => {
    const { discord } = await toldOf(
      '<@123> <#5> **loud** `code` ||hidden|| [Sign in](https://evil.example) @everyone # big > said',
    )
    expect(discord).toBe(
      `${HOME} (\\<@ 123\\> \\<\\#5\\> \\*\\*loud\\*\\* \\\`code\\\` \\|\\|hidden\\|\\| \\[Sign in\\]((link to evil.example)) @ everyone \\# big \\> said)`,
    )
  })

  it('is not made by a name of an agent, a job or a branch either', async () => {
    await using server = await serve()
    const session = {
      ...afterRun.session,
      agent_name: '<!channel>',
      job_id: '@everyone',
      branch_name: 'https://evil.example',
    }
    const runner = new NodeHookRunner({ environment: {} })
    for (const type of ['slack', 'discord'] as const) await runner.run(chat(type, server.url), { ...afterRun, session })
    expect(server.received.map(({ body }) => JSON.parse(body))).toStrictEqual([
      {
        text: '&lt;!channel&gt; (job @ everyone, branch (link to evil.example)): the run ended: completed',
        mrkdwn: false,
        parse: 'none',
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
      },
      {
        content: '\\<!channel\\> (job @ everyone, branch (link to evil.example)): the run ended: completed',
        allowed_mentions: { parse: [] },
        flags: 4,
      },
    ])
  })
})
