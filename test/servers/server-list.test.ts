import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type Addresses, serverList } from '../../src/adapters/postgres/open/server-list.ts'

/** What the driver makes of each server of an address. */
const read = (addresses: Addresses, use: 'writing' | 'reading' = 'writing') => {
  const { servers, wanted } = serverList(addresses, use)
  const seen = servers.map(({ config }) => {
    const { host, port, user, database, password } = new pg.Client(config)
    return { host, port, user, database, password }
  })
  return { wanted, names: servers.map(({ name }) => name), seen }
}

const ROLE = { user: 'baton', database: 'agents' }

describe('an address with several hosts', () => {
  it.each([
    [
      'postgres://baton@a:1,b:2/agents',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'postgresql://baton@a,b/agents',
      [
        ['a', 5432],
        ['b', 5432],
      ],
    ],
    [
      'postgres://baton@a:1,b/agents',
      [
        ['a', 1],
        ['b', 5432],
      ],
    ],
    [
      'postgres://baton@a,b/agents?port=7',
      [
        ['a', 7],
        ['b', 7],
      ],
    ],
    [
      'postgres://baton@/agents?host=a,b&port=1,2',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'postgres://baton@x,y/agents?host=a,b&port=1,2',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'postgres:///agents?host=a,b&user=baton',
      [
        ['a', 5432],
        ['b', 5432],
      ],
    ],
    [
      'postgres://baton@[::1]:1,[fe80::2]/agents',
      [
        ['::1', 1],
        ['fe80::2', 5432],
      ],
    ],
    [
      'postgres://baton@%2Frun%2Fa:1,%2Frun%2Fb:2/agents',
      [
        ['/run/a', 1],
        ['/run/b', 2],
      ],
    ],
    [
      'postgres://baton@/agents?host=%2Frun%2Fa%2C%2Frun%2Fb',
      [
        ['/run/a', 5432],
        ['/run/b', 5432],
      ],
    ],
    [
      'postgres://baton@/agents?hostaddr=10.0.0.1,10.0.0.2',
      [
        ['10.0.0.1', 5432],
        ['10.0.0.2', 5432],
      ],
    ],
  ] as const)('%s', (address, places) => {
    const { wanted, seen } = read(address)
    expect(wanted).toBe('read-write')
    expect(seen).toEqual(places.map(([host, port]) => expect.objectContaining({ ...ROLE, host, port })))
  })

  it('may be a list of addresses, each with a role of its own', () => {
    const { seen, names } = read(['postgres://one:p1@a/agents', 'postgres://two:p2@b:2,c:3/other'])
    expect(names).toEqual(['a', 'b:2', 'c:3'])
    expect(seen.map(({ user, password, database }) => [user, password, database])).toEqual([
      ['one', 'p1', 'agents'],
      ['two', 'p2', 'other'],
      ['two', 'p2', 'other'],
    ])
  })

  it('keeps the password and every other parameter as they are', () => {
    const { servers } = serverList(
      'postgres://baton:a%2Cb%40c,d@a,b/my%20agents?application_name=x%26y&sslmode=disable',
      'writing',
    )
    for (const { config } of servers) {
      const client = new pg.Client(config) as pg.Client & {
        readonly connectionParameters: { readonly application_name: string; readonly ssl: unknown }
      }
      expect(client).toMatchObject({ password: 'a,b@c,d', database: 'my agents' })
      expect(client.connectionParameters).toMatchObject({ application_name: 'x&y', ssl: false })
    }
  })

  it('has names for messages, without role and password', () => {
    expect(read('postgres://baton:secret@a:1,[::1]:2,%2Frun/agents').names).toEqual(['a:1', '[::1]:2', '/run'])
  })
})

describe('which server is wanted', () => {
  it.each([
    ['postgres://a/x', 'any'],
    ['postgres://a/x?target_session_attrs=read-write', 'read-write'],
    ['postgres://a/x?target_session_attrs=any', 'any'],
    ['postgres://a,b/x?target_session_attrs=primary', 'primary'],
    ['postgres://a,b/x', 'read-write'],
  ])('for writing, %s: %s', (address, wanted) => {
    expect(read(address).wanted).toBe(wanted)
  })

  it.each(['any', 'read-only', 'standby', 'prefer-standby', 'primary', 'read-write'])('for reading, %s', (wanted) => {
    expect(read(`postgres://a,b/x?target_session_attrs=${wanted}`, 'reading').wanted).toBe(wanted)
  })

  it('for reading, the first that answers unless something is said', () => {
    expect(read('postgres://a,b/x', 'reading').wanted).toBe('any')
  })
})

describe('an address that cannot be used is refused, without its password', () => {
  const SECRET = 'tea4two'
  it.each([
    ['postgres://u:tea4two@a,b/x?target_session_attrs=any', 'takes no writes'],
    ['postgres://u:tea4two@a,b/x?target_session_attrs=standby', '"readFrom"'],
    ['postgres://u:tea4two@a/x?target_session_attrs=read-only', '"readFrom"'],
    ['postgres://u:tea4two@a,b/x?target_session_attrs=prefer-standby', '"readFrom"'],
    ['postgres://u:tea4two@a,b/x?target_session_attrs=leader', 'is not one of any, read-write'],
    ['postgres://u:tea4two@a,b/x?load_balance_hosts=random', 'Leave it out'],
    ['postgres://u:tea4two@a,b/x?port=1,2,3', '3 ports for 2 hosts'],
    ['postgres://u:tea4two@a,b/x?hostaddr=10.0.0.1', '1 hostaddr for 2 hosts'],
    ['postgres://u:tea4two@a,,b/x', 'comma'],
    ['postgres://u:tea4two@a,b,/x', 'comma'],
    ['postgres://u:tea4two@a:0,b/x', 'from 1 to 65535'],
    ['postgres://u:tea4two@a:65536,b/x', 'from 1 to 65535'],
    ['postgres://u:tea4two@::1,b/x', '[::1]'],
    ['postgres://u:tea4two@a%zz,b/x', '%25'],
    // Passwords that take the address apart: what follows them must not be taken for a host.
    ['postgres://u:tea4two#x@a:1,b:2/x', '%23'],
    ['postgres://u:12,tea4two#x@a/x', '%23'],
    ['postgres://u:12,tea4two/x@a/x', '%2F'],
    ['postgres://u:12,tea4two?x@a/x', '%3F'],
    ['postgres://u:12#tea4two@a/x', '%23'],
  ])('%s', (address, words) => {
    let failure: unknown
    try {
      serverList(address, 'writing')
    } catch (error) {
      failure = error
    }
    expect(failure).toMatchObject({ code: 'store.bad_address', retryable: false })
    expect(String(failure)).toContain(words)
    expect(String(failure)).not.toContain(SECRET)
  })

  it('an empty list, and a list that asks for two things', () => {
    expect(() => serverList([], 'writing')).toThrow('empty list')
    const both = ['postgres://a/x?target_session_attrs=primary', 'postgres://b/x']
    expect(() => serverList(both, 'writing')).toThrow('target_session_attrs differs')
  })
})
