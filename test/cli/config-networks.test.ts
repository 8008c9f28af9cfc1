import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from './spawned.ts'
import { batonWith } from './terminal.ts'

/** A configuration with one hook after a run. */
const fileWith = (hook: object): string => {
  const file = join(folder(), 'batonpass.json')
  writeFileSync(file, JSON.stringify({ hooks: { after_run: [{ type: 'webhook', name: 'notify', ...hook }] } }))
  return file
}

const remarksOn = async (
  hook: object,
  environment: Readonly<Record<string, string>> = {},
  ...flags: readonly string[]
): Promise<readonly string[]> => {
  const { code, out } = await batonWith(environment)('config', 'check', fileWith(hook), '--json', ...flags)
  expect(code).toBe(0)
  return (JSON.parse(out) as { remarks: readonly string[] }).remarks
}

/** What is noted of a whole configuration. */
const remarksOnAll = async (
  configuration: object,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> => {
  const file = join(folder(), 'batonpass.json')
  writeFileSync(file, JSON.stringify(configuration))
  const { out } = await batonWith(environment)('config', 'check', file, '--json')
  return (JSON.parse(out) as { remarks: readonly string[] }).remarks
}

const REFUSED = 'The hook notify (after_run) will be refused.'
const PRIVATE = `${REFUSED} Its address leads into a private network that is not allowed (allowNetworks, --allow-network).`

describe('baton config check', () => {
  it.each([
    'https://10.20.0.5/hook',
    'https://[fd12::1]/hook',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.20.0.5]/hook',
    'https://0x0a140005/hook',
  ])('notes that %s will be refused, and never shows it', async (url) => {
    expect(await remarksOn({ url })).toEqual([PRIVATE])
    const { out } = await batonWith({})('config', 'check', fileWith({ url }))
    expect(out).toContain(`Note: ${PRIVATE}`)
    expect(out).not.toContain(url)
  })

  it('notes nothing of what --allow-network opens, and still of what nothing opens', async () => {
    const allow = ['--allow-network', 'fd12::/16', '--allow-network', '10.20.0.0/16'] as const
    expect(await remarksOn({ url: 'https://10.20.0.5/' }, {}, ...allow)).toEqual([])
    expect(await remarksOn({ url: 'https://[fd12::1]/' }, {}, ...allow)).toEqual([])
    expect(await remarksOn({ url: 'https://10.21.0.5/' }, {}, ...allow)).toEqual([PRIVATE])
    expect(await remarksOn({ url: 'https://169.254.169.254/' }, {}, '--allow-network', '0.0.0.0/0')).toEqual([PRIVATE])
  })

  it('looks no name up, and notes nothing of what may be used', async () => {
    expect(await remarksOn({ url: 'https://hooks.internal.invalid/' })).toEqual([])
    expect(await remarksOn({ url: 'http://127.0.0.1:8080/' })).toEqual([])
    expect(
      await remarksOn({ type: 'slack', url: `\${SLACK}` }, { SLACK: 'https://hooks.slack.com/services/x' }),
    ).toEqual([])
  })

  it('notes variables that are missing, secrets that are weak, and headers that cannot be sent', async () => {
    const url = 'https://example.org/'
    expect(await remarksOn({ url: `\${ADDRESS}` })).toEqual([`${REFUSED} The variable ADDRESS is not set.`])
    expect(await remarksOn({ url: `\${ADDRESS}` }, { ADDRESS: 'http://example.org/' })).toEqual([
      `${REFUSED} Its address is not https, and is not on this machine.`,
    ])
    expect(await remarksOn({ url, secret: `\${KEY}` }, { KEY: '' })).toEqual([
      expect.stringContaining(`${REFUSED} The secret cannot be used: it is empty.`),
    ])
    expect(await remarksOn({ url, headers: { A: `\${KEY}` } }, { KEY: 'x\n' })).toEqual([
      `${REFUSED} The header A cannot be sent: the variable KEY ends in a line break. Set it without one.`,
    ])
  })
})

describe('--allow-network', () => {
  it.each(['config check', 'run', 'recover'])('refuses what no hook may reach, in "baton %s"', async (command) => {
    const words = [...command.split(' '), ...(command === 'run' ? ['Fix it', '--command', 'true'] : [])]
    const file = command === 'config check' ? [fileWith({ url: 'https://example.org/' })] : ['--data-dir', folder()]
    const said = await batonWith({})(...words, ...file, '--allow-network', '169.254.0.0/16')
    expect(said.code).toBe(2)
    expect(said.err).toContain('--allow-network 169.254.0.0/16: it is link-local')
  })

  it('is what a file is told to use instead', async () => {
    const file = join(folder(), 'batonpass.yaml')
    writeFileSync(file, 'allow_networks: [10.0.0.0/8]\n')
    const { code, out } = await batonWith({})('config', 'check', file)
    expect(code).toBe(3)
    expect(out).toContain('Use allowNetworks in code, or --allow-network.')
  })

  it('notes a channel of Slack without its token, and hooks of a single agent', async () => {
    const channel = { type: 'slack', name: 'notify', channel_id: 'C0123456789' }
    const all = { hooks: { after_run: [channel] } }
    expect(await remarksOnAll(all)).toEqual([`${REFUSED} The variable SLACK_BOT_TOKEN is not set.`])
    expect(await remarksOnAll(all, { SLACK_BOT_TOKEN: '' })).toMatchObject([expect.stringContaining('holds no token')])
    expect(await remarksOnAll(all, { SLACK_BOT_TOKEN: 'xoxb-1-2' })).toEqual([])
    const ofAgent = { agents: [{ name: 'a', hooks: { after_run: [channel] } }, { name: 'b' }] }
    expect(await remarksOnAll(ofAgent)).toEqual([`${REFUSED} The variable SLACK_BOT_TOKEN is not set.`])
    expect(await remarksOnAll({ ...all, agents: [{ name: 'a' }] })).toHaveLength(1)
  })
})
