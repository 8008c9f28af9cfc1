import { describe, expect, it } from 'vitest'
import { AllowedNetworks } from '../../src/adapters/hooks/allowed-networks.ts'
import { mayReach } from '../../src/adapters/hooks/safe-lookup.ts'
import { type AddressLookup, NodeHookRunner } from '../../src/entry/hooks.ts'
import { ConfigurationError, createBatonpass } from '../../src/entry/index.ts'
import { linesIn } from '../config/checking.ts'
import { afterRun, webhook } from './samples.ts'

/** The code of a call to a name that stands for this address, with such networks allowed. Nobody listens there. */
const callTo = async (address: string, ...allowNetworks: readonly string[]): Promise<string | undefined> => {
  const lookup: AddressLookup = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
  const runner = new NodeHookRunner({ lookup, allowNetworks })
  const result = await runner.run(webhook('https://hooks.example.org:1/'), afterRun)
  return result.ok ? undefined : result.error.code
}

const EVERYTHING = ['0.0.0.0/0', '::/0'] as const

describe('a private network', () => {
  it.each([
    ['10.20.0.5', '10.20.0.0/16'],
    ['10.20.0.5', '10.20.0.5/32'],
    ['192.168.1.1', '192.168.0.0/16'],
    ['fd12:3456::1', 'fd12:3456::/32'],
    ['::ffff:10.20.0.5', '10.20.0.0/16'],
    ['127.0.0.1', '127.0.0.0/8'],
    ['10.20.0.5', '0.0.0.0/0'],
  ])('is reached where it is allowed: %s in %s', async (address, network) => {
    expect(mayReach('hooks.example.org', address, new AllowedNetworks())).toBe(false)
    expect(mayReach('hooks.example.org', address, new AllowedNetworks([network]))).toBe(true)
  })

  it('is reached by a name too, and still only over https', async () => {
    expect(await callTo('127.0.0.1')).toBe('hook.address_refused')
    expect(await callTo('127.0.0.1', '127.0.0.0/8')).toBe('hook.unreachable')
    const runner = new NodeHookRunner({ allowNetworks: ['10.20.0.0/16'] })
    expect(await runner.run(webhook('http://10.20.0.5/'), afterRun)).toMatchObject({
      error: { code: 'hook.address_refused' },
    })
  })

  it.each([
    ['10.21.0.5', '10.20.0.0/16'],
    ['192.168.1.1', '10.0.0.0/8'],
    ['fd12:3457::1', 'fd12:3456::/32'],
    ['::ffff:10.21.0.5', '10.20.0.0/16'],
  ])('is not reached where another one is allowed: %s, not in %s', async (address, network) => {
    expect(await callTo(address, network)).toBe('hook.address_refused')
  })

  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fe80::1',
    'fe80::1%lo',
    'febf::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
  ])('never opens %s, though everything is allowed', async (address) => {
    expect(await callTo(address, ...EVERYTHING)).toBe('hook.address_refused')
    if (address.includes('%')) return
    const host = address.includes(':') ? `[${address}]` : address
    const runner = new NodeHookRunner({ allowNetworks: EVERYTHING })
    expect(await runner.run(webhook(`https://${host}:1/`), afterRun)).toMatchObject({
      error: { code: 'hook.address_refused' },
    })
  })

  it('is not opened by one good address among several', async () => {
    const lookup: AddressLookup = async () => [
      { address: '10.20.0.5', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ]
    const runner = new NodeHookRunner({ lookup, allowNetworks: ['10.20.0.0/16'] })
    expect(await runner.run(webhook('https://hooks.example.org/'), afterRun)).toMatchObject({
      error: { code: 'hook.address_refused' },
    })
  })
})

describe('a list of allowed networks', () => {
  const NETWORK = 'Write a network such as 10.20.0.0/16, or one address such as 10.20.0.5/32.'
  const LINK_LOCAL = 'it is link-local, an address at which clouds give out credentials, or no network of hosts'

  it.each([
    ['', 'it is not a network', NETWORK],
    ['10.0.0.0', 'it is not a network', NETWORK],
    ['10.0.0.0/33', 'it is not a network', NETWORK],
    ['10.0.0/8', 'it is not a network', NETWORK],
    ['fe80::1%eth0/128', 'it is not a network', NETWORK],
    ['hooks.example.org/24', 'it is not a network', NETWORK],
    ['10.1.2.3/8', 'it has more bits than its length', NETWORK],
    ['fd12::1/64', 'it has more bits than its length', NETWORK],
    ['::ffff:10.0.0.0/104', 'it is IPv4 in disguise', `Write it as IPv4. ${NETWORK}`],
    ['169.254.0.0/16', LINK_LOCAL, 'No hook may reach it. Leave it out.'],
    ['169.254.169.254/32', LINK_LOCAL, 'No hook may reach it. Leave it out.'],
    ['fe80::/10', LINK_LOCAL, 'No hook may reach it. Leave it out.'],
    ['fd00:ec2::254/128', LINK_LOCAL, 'No hook may reach it. Leave it out.'],
    ['64:ff9b::/96', LINK_LOCAL, 'No hook may reach it. Leave it out.'],
  ])('does not take %j', async (network, problem, advice) => {
    const wrong = { path: 'allowNetworks[1]', problem, advice }
    const make = () => new NodeHookRunner({ allowNetworks: ['10.0.0.0/8', network] })
    expect(make).toThrow(ConfigurationError)
    const refused = createBatonpass({ store: 'memory', allowNetworks: ['10.0.0.0/8', network] })
    await expect(refused).rejects.toMatchObject({ code: 'configuration.invalid', problems: [wrong] })
  })

  it('does not go with a runner of hooks that knows nothing of it', async () => {
    const options = { store: 'memory', allowNetworks: ['10.0.0.0/8'], hookRunner: new NodeHookRunner() } as const
    await expect(createBatonpass(options)).rejects.toMatchObject({ problems: [{ path: 'allowNetworks' }] })
  })

  it('is not for a file, or an object in its place, to say', async () => {
    const said =
      'there is no such key | A configuration may come from anywhere, so it cannot open networks. Use allowNetworks in code, or --allow-network.'
    const webhookWith = { type: 'webhook', url: 'https://example.org/', allow_networks: ['10.0.0.0/8'] }
    expect(await linesIn({ allow_networks: ['10.0.0.0/8'] })).toEqual([`allow_networks | ${said}`])
    expect(await linesIn({ allowNetworks: ['10.0.0.0/8'] })).toEqual([`allowNetworks | ${said}`])
    expect(await linesIn({ hooks: { allow_network: '10.0.0.0/8' } })).toEqual([`hooks.allow_network | ${said}`])
    expect(await linesIn({ hooks: { after_run: [webhookWith] } })).toEqual([
      `hooks.after_run[0].allow_networks | ${said}`,
    ])
  })
})
