import { describe, expect, it } from 'vitest'
import { type HookSettings, NodeHookRunner } from '../../src/entry/hooks.ts'
import { readConfiguration } from '../../src/entry/index.ts'
import { afterRun, onError, serve } from './samples.ts'

const TOKEN = 'xoxb-000000000000-fixture'

const channelHook = async (): Promise<HookSettings> => {
  const hooks = { on_error: [{ type: 'slack', channel_id: 'C0123456789' }] }
  const [hook] = (await readConfiguration({ hooks })).configuration.hooks
  if (hook === undefined) throw new Error('There is no hook')
  return hook
}

/** Sends to a server that answers with this, as Slack does with status 200. */
const sent = async (answer: string, environment: Readonly<Record<string, string>> = { SLACK_BOT_TOKEN: TOKEN }) => {
  await using server = await serve((_, response) => response.end(answer))
  const runner = new NodeHookRunner({ environment, slackApi: `${server.url}/api` })
  return { result: await runner.run(await channelHook(), onError), received: server.received }
}

describe('a Slack hook with a channel', () => {
  it('calls chat.postMessage as the bot, with the message that a webhook is sent', async () => {
    const { result, received } = await sent('{"ok":true,"ts":"1.2"}')
    expect(result).toMatchObject({ ok: true, type: 'slack', httpStatus: 200 })
    expect(received).toMatchObject([
      { method: 'POST', path: '/api/chat.postMessage', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
    expect(received[0]?.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      channel: 'C0123456789',
      text: 'claude-code (job job-7, branch fix): the run ended: failed (No restart is left)',
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    })
  })

  it.each([
    [
      '{"ok":false,"error":"channel_not_found"}',
      'Slack did not take the message (channel_not_found). Check channel_id, and that the bot may see the channel.',
    ],
    ['{"ok":false,"error":"ratelimited"}', 'Slack did not take the message (ratelimited).'],
    ['{"ok":false,"error":"<b>rm -rf</b>"}', 'Slack did not take the message (no reason given).'],
    ['{"ok":false,"error":"constructor"}', 'Slack did not take the message (constructor).'],
    ['{"ok":false}', 'Slack did not take the message (no reason given).'],
    ['{"ok":"true"}', 'The answer is not one of Slack: it has no "ok".'],
    ['null', 'The answer is not one of Slack: it has no "ok".'],
    ['<html>Sign in</html>', 'The answer is not one of Slack: it has no "ok".'],
    ['', 'The answer is not one of Slack: it has no "ok".'],
  ])('takes the answer %s for a failure, though its status is 200', async (answer, message) => {
    const { result } = await sent(answer)
    expect(result).toMatchObject({ ok: false, httpStatus: 200, error: { code: 'hook.not_accepted', message } })
  })

  it('never shows the token, also when the server sends it back', async () => {
    for (const answer of [`{"ok":true,"echo":"Bearer ${TOKEN}"}`, `{"ok":false,"error":"${TOKEN}"}`]) {
      expect(JSON.stringify((await sent(answer)).result)).not.toContain(TOKEN)
    }
  })

  it.each([
    [{}, 'The variable SLACK_BOT_TOKEN is not set.'],
    [
      { SLACK_BOT_TOKEN: '' },
      'The variable SLACK_BOT_TOKEN is set, and holds no token: it is empty, short, or not one word.',
    ],
    [
      { SLACK_BOT_TOKEN: 'xoxb-secret\nx-evil: 1' },
      'The variable SLACK_BOT_TOKEN is set, and holds no token: it is empty, short, or not one word.',
    ],
  ])('sends nothing without a token: %j', async (environment, message) => {
    const { result, received } = await sent('{"ok":true}', environment as Readonly<Record<string, string>>)
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.variable_missing', message } })
    expect(received).toEqual([])
  })

  it('takes the variable that the file names', async () => {
    const hooks = { after_run: [{ type: 'slack', channel_id: 'C0123456789', bot_token_env: 'TEAM_TOKEN' }] }
    const [hook] = (await readConfiguration({ hooks })).configuration.hooks
    expect(hook).toMatchObject({ channelId: 'C0123456789', botTokenEnv: 'TEAM_TOKEN' })
    await using server = await serve((_, response) => response.end('{"ok":true}'))
    const runner = new NodeHookRunner({ environment: { TEAM_TOKEN: TOKEN }, slackApi: server.url })
    expect(hook && (await runner.run(hook, afterRun))).toMatchObject({ ok: true })
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })

  it('reports another status as what it is, and obeys the rules for addresses', async () => {
    await using server = await serve((_, response) => response.writeHead(503).end('{"ok":true}'))
    const environment = { SLACK_BOT_TOKEN: TOKEN }
    const down = await new NodeHookRunner({ environment, slackApi: server.url }).run(await channelHook(), onError)
    expect(down).toMatchObject({ ok: false, error: { code: 'hook.http_status' } })
    const plain = new NodeHookRunner({ environment, slackApi: 'http://slack.example/api' })
    expect(await plain.run(await channelHook(), onError)).toMatchObject({ error: { code: 'hook.address_refused' } })
  })
})
