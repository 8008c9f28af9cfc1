import type { Chance } from '../chance.ts'

/** A value that no caller should pass and any caller may. */
export interface Hostile {
  readonly name: string
  /** A new one each time: some of them cannot be used twice. */
  readonly make: () => unknown
  /** Of this type it is odd rather than wrong: a store may take what it knows of it, if it gives that back. */
  readonly oddAs?: 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null'
}

const throwing = (): never => {
  throw new Error('A trap of the caller’s own object')
}

const cyclic = (): object => {
  const ring: Record<string, unknown> = {}
  ring.ring = ring
  return ring
}

const deep = (): unknown => {
  let value: unknown = 1
  for (let depth = 0; depth < 20_000; depth += 1) value = [value]
  return value
}

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const text = (name: string, value: string): Hostile => ({ name, make: () => value, oddAs: 'string' })
const number = (name: string, value: number): Hostile => ({ name, make: () => value, oddAs: 'number' })

/** Values of every kind that JavaScript lets through where types do not. */
export const HOSTILE: readonly Hostile[] = [
  text('empty text', ''),
  text('blank', ' \t\n'),
  text('no-break space', '\u00a0'),
  text('NUL', 'a\u0000b'),
  text('lone surrogate', 'a\ud800b'),
  text('long text', 'x'.repeat(300_000)),
  text('__proto__', '__proto__'),
  text('no id', 'zzz'),
  text('quotes', `'"\\;--$1`),
  number('5', 5),
  number('NaN', Number.NaN),
  number('Infinity', Number.POSITIVE_INFINITY),
  number('-1', -1),
  number('1.5', 1.5),
  number('1e308', 1e308),
  number('2^53', 2 ** 53),
  { name: 'true', make: () => true, oddAs: 'boolean' },
  { name: 'null', make: () => null, oddAs: 'null' },
  { name: 'array', make: () => ['x'], oddAs: 'array' },
  { name: 'empty array', make: () => [], oddAs: 'array' },
  { name: 'object', make: () => ({ x: 1 }), oddAs: 'object' },
  { name: 'empty object', make: () => ({}), oddAs: 'object' },
  { name: 'object without a prototype', make: () => Object.create(null), oddAs: 'object' },
  { name: 'object with __proto__', make: () => JSON.parse('{"__proto__": {"x": 1}, "id": "x"}'), oddAs: 'object' },
  { name: 'boxed text', make: () => Object('x') },
  { name: 'BigInt', make: () => 5n },
  { name: 'symbol', make: () => Symbol('x') },
  { name: 'function', make: () => () => 'x' },
  { name: 'date', make: () => new Date(0) },
  { name: 'map', make: () => new Map([['x', 1]]) },
  { name: 'bytes', make: () => new Uint8Array([1, 2]) },
  { name: 'cyclic object', make: cyclic, oddAs: 'object' },
  { name: 'deep array', make: deep },
  {
    name: 'getter that throws',
    make: () => Object.defineProperty({}, 'id', { enumerable: true, get: throwing }),
    oddAs: 'object',
  },
  { name: 'toJSON that throws', make: () => ({ toJSON: throwing }), oddAs: 'object' },
  { name: 'proxy that throws', make: () => new Proxy({}, { get: throwing, ownKeys: throwing, has: throwing }) },
  { name: 'revoked proxy', make: revoked },
]

/** One of them. */
export const hostile = (chance: Chance): Hostile => chance.one(HOSTILE) ?? { name: 'null', make: () => null }
