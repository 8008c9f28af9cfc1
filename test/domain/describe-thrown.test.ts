import { describe, expect, it } from 'vitest'
import { describeThrown } from '../../src/domain/kernel/describe-thrown.ts'

const around: Record<string, unknown> = { name: 'Loop' }
around.self = around

describe('what was thrown, in words', () => {
  it.each<readonly [string, unknown, string]>([
    ['an error', new TypeError('It broke'), 'It broke'],
    ['an error without a message', new TypeError(''), 'TypeError'],
    ['an error with a code only', Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['several errors', new AggregateError([new Error('first'), new Error('second')], ''), 'first; second'],
    ['the exit of a compiled program', { name: 'ExitStatus', message: 'exit(1)', status: 1 }, 'exit(1)'],
    ['an object with a name', { name: 'ExitStatus', status: 1 }, 'ExitStatus {"status":1}'],
    ['an object', { errno: 28 }, 'something {"errno":28}'],
    ['an object without anything', {}, 'something'],
    ['an object that holds itself', around, 'Loop'],
    ['an object with a number too big for JSON', { name: 'Big', size: 1n }, 'Big'],
    ['a text', 'no', 'no'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
  ])('%s', (_, thrown, words) => {
    expect(describeThrown(thrown)).toBe(words)
  })
})
