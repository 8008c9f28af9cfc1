import { describe, expect, it } from 'vitest'
import {
  amount,
  type Check,
  type InputProblem,
  listOf,
  objectOf,
  oneOf,
  optional,
  trueOrFalse,
  wholeNumber,
} from '../../src/domain/input/check.ts'
import {
  checkpointFacts,
  claimMs,
  flags,
  hookResult,
  leaseMs,
  restartBudget,
  traceContext,
  workspace,
} from '../../src/domain/input/details.ts'
import { monitorReport, monitorSettings, reading, totals, windowParts } from '../../src/domain/input/readings.ts'
import { turn } from '../../src/domain/input/turn-checks.ts'
import { id, messageText, moment, name, text, trimmedName } from '../../src/domain/input/words.ts'
import { uuid } from './samples.ts'

/** What a check finds wrong, as `path: problem`. */
const problemsOf = <T>(check: Check<T>, value: unknown, field = 'it'): readonly string[] => {
  const problems: InputProblem[] = []
  check(value, field, problems)
  return problems.map(({ field: path, problem }) => `${path}: ${problem}`)
}

/** What a check makes of a value that is fine. */
const read = <T>(check: Check<T>, value: unknown): T => {
  const problems: InputProblem[] = []
  const found = check(value, 'it', problems)
  expect(problems).toEqual([])
  return found
}

const fieldsOf = <T>(check: Check<T>, value: unknown): readonly string[] =>
  problemsOf(check, value, '').map((problem) => problem.slice(0, problem.indexOf(':')))

/** Values of every kind that are no text and no number. */
const ODD: readonly unknown[] = [null, true, Symbol('odd'), () => 'x', {}, ['x'], new Date(0), 5n]

const throwing = (): never => {
  throw new Error('The caller’s own code failed')
}

/** An object whose every property throws when it is read. */
const hostile = (target: object): object => new Proxy(target, { get: throwing })

describe('texts and names', () => {
  it.each<[string, Check<string>]>([
    ['a text', text],
    ['a name', name],
    ['a name that is trimmed', trimmedName],
    ['what a message says', messageText],
  ])('%s is a string and nothing that could become one', (_, check) => {
    expect(read(check, 'Fix it')).toBe('Fix it')
    for (const odd of [...ODD, 5, Number.NaN, new String('x'), { toString: () => 'x' }])
      expect(problemsOf(check, odd)).toEqual(['it: it is not text'])
    expect(problemsOf(check, undefined)).toEqual(['it: it is missing'])
  })

  it.each(['', ' ', '\t\n\r', '\u00a0', '\u3000 \u2003', '\ufeff'])('%j says nothing', (blank) => {
    for (const check of [text, name, trimmedName]) expect(problemsOf(check, blank)).toEqual(['it: it is blank'])
    expect(read(messageText, blank)).toBe(blank)
  })

  it('keeps a text as it is, and a trimmed name without what is around it', () => {
    expect(read(text, '  a\u0000b \ud800 ')).toBe('  a\u0000b \ud800 ')
    expect(read(name, ' opus ')).toBe(' opus ')
    expect(read(trimmedName, '\u00a0 opus\t')).toBe('opus')
  })

  it('takes what fits, to the character', () => {
    expect(read(name, 'x'.repeat(300))).toHaveLength(300)
    expect(problemsOf(name, 'x'.repeat(301))).toEqual(['it: it has 301 characters, and 300 is the most'])
    const longest = 'x'.repeat(16_777_216)
    expect(read(messageText, longest)).toBe(longest)
    expect(problemsOf(text, `${longest}x`)).toHaveLength(1)
  })
})

describe('ids and moments', () => {
  it('takes a UUID of any version, and writes it in small letters', () => {
    expect(read(id, uuid(10).toUpperCase())).toBe(uuid(10))
  })

  it.each(['', 'zzz', `${uuid(1)} `, uuid(1).slice(1), `{${uuid(1)}}`, [uuid(1)], 7, null, {}])(
    '%j is no id',
    (value) => {
      expect(problemsOf(id, value)).toEqual(['it: it is not an id, which is a UUID'])
    },
  )

  it('takes a moment as we write it, and no other', () => {
    expect(read(moment, '2026-11-16T03:45:34.123Z')).toBe('2026-11-16T03:45:34.123Z')
    const others = ['2026-11-16', '2026-11-16T03:45:34Z', '2026-11-16T04:45:34.123+01:00', '2026-13-01T00:00:00.000Z']
    for (const value of [...others, 'zzz', '', 0, new Date(0), null, Number.NaN])
      expect(problemsOf(moment, value)).toEqual(['it: it is not a moment such as 2026-11-16T03:45:34.123Z'])
    expect(problemsOf(moment, undefined)).toEqual(['it: it is missing'])
  })
})

describe('numbers, words and choices', () => {
  it('takes whole numbers between two limits, both included', () => {
    const check = wholeNumber(1, 3)
    for (const value of [1, 2, 3]) expect(read(check, value)).toBe(value)
    for (const value of [0, 4, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(problemsOf(check, value)).toEqual([`it: ${value} is not a whole number from 1 to 3`])
    for (const odd of [...ODD, '2', new Number(2)])
      expect(problemsOf(check, odd)).toEqual(['it: it is not a whole number from 1 to 3'])
    expect(problemsOf(wholeNumber(0), -1)).toEqual(['it: -1 is not a whole number from 0 up'])
    expect(problemsOf(check, undefined)).toEqual(['it: it is missing'])
  })

  it('takes numbers between two limits, both included', () => {
    const check = amount(0, 1)
    for (const value of [0, 0.25, 1]) expect(read(check, value)).toBe(value)
    for (const value of [-0.01, 1.01, Number.NaN, Number.NEGATIVE_INFINITY])
      expect(problemsOf(check, value)).toEqual([`it: ${value} is not a number from 0 to 1`])
    for (const odd of [...ODD, '0.5']) expect(problemsOf(check, odd)).toEqual(['it: it is not a number from 0 to 1'])
  })

  it('takes true and false, and nothing that counts as either', () => {
    expect([read(trueOrFalse, true), read(trueOrFalse, false)]).toEqual([true, false])
    for (const odd of [0, 1, '', 'yes', null, {}])
      expect(problemsOf(trueOrFalse, odd)).toEqual(['it: it is not true or false'])
  })

  it('takes one of some words, and says which there are', () => {
    const check = oneOf('stop', 'carry_on')
    expect(read(check, 'carry_on')).toBe('carry_on')
    expect(problemsOf(check, 'go')).toEqual(['it: "go" is not one of stop, carry_on'])
    expect(problemsOf(check, 'x'.repeat(100))).toEqual([`it: "${'x'.repeat(40)}" is not one of stop, carry_on`])
    for (const odd of [...ODD, 'STOP', ['stop'], new String('stop')]) expect(problemsOf(check, odd)).toHaveLength(1)
    expect(problemsOf(oneOf('a'), '__proto__')).toHaveLength(1)
  })

  it('takes no value where one may be left out, and only that', () => {
    expect(read(optional(text), undefined)).toBeUndefined()
    expect(problemsOf(optional(text), null)).toEqual(['it: it is not text'])
    expect(problemsOf(optional(text), ' ')).toEqual(['it: it is blank'])
  })
})

describe('objects and lists', () => {
  interface Point {
    readonly x: number
    readonly note?: string
  }
  const point = objectOf<Point>({ x: wholeNumber(0), note: optional(text) })

  it('makes a plain copy of what is asked for, and leaves the rest', () => {
    const given = Object.assign(Object.create({ note: 'inherited' }), { x: 1, more: 'left' })
    const found = read(point, given)
    expect(found).toEqual({ x: 1, note: 'inherited' })
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
    expect(Object.keys(read(point, { x: 1, note: undefined }))).toEqual(['x'])
  })

  it('names every wrong property by its path', () => {
    const line = objectOf<{ readonly points: readonly Point[] }>({ points: listOf(point, { least: 1 }) })
    expect(problemsOf(line, { points: [{ x: 1 }, { x: -1, note: '' }, null, { note: 5 }] }, '')).toEqual([
      'points[1].x: -1 is not a whole number from 0 up',
      'points[1].note: it is blank',
      'points[2]: it is not an object',
      'points[3].x: it is missing',
      'points[3].note: it is not text',
    ])
    expect(problemsOf(line, {}, '')).toEqual(['points: it is missing'])
    expect(problemsOf(line, { points: [] }, 'request')).toEqual(['request.points: it is empty'])
    for (const odd of [null, 5, 'x', true, Symbol('odd')])
      expect(problemsOf(line, odd, 'request')).toEqual(['request: it is not an object'])
  })

  it('takes a list, and nothing that looks like one', () => {
    const words = listOf(text, { most: 3 })
    const given = ['a', 'b']
    expect(read(words, given)).toEqual(given)
    expect(read(words, given)).not.toBe(given)
    for (const odd of ['ab', { length: 1, 0: 'a' }, new Set(['a']), new Uint8Array(1), null])
      expect(problemsOf(words, odd)).toEqual(['it: it is not a list'])
    expect(problemsOf(words, ['a', 'b', 'c', 'd'])).toEqual(['it: it has 4 entries, and 3 is the most'])
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tried
    expect(problemsOf(words, ['a', , 'c'])).toEqual(['it[1]: it is missing'])
  })

  it('looks at no more of a list than says enough', () => {
    const many = Array.from({ length: 50_000 }, () => 5)
    expect(problemsOf(listOf(text), many).length).toBeLessThan(200)
    expect(problemsOf(listOf(text), new Array(4_000_000_000))).toEqual([
      'it: it has 4000000000 entries, and 100000 is the most',
    ])
  })
})

describe('values that run the caller’s code', () => {
  const point = objectOf<{ readonly x: string; readonly y: string }>({ x: text, y: text })

  it('are named when they fail, and the others are still looked at', () => {
    const getter = Object.defineProperty({ y: ' ' }, 'x', { get: throwing })
    expect(problemsOf(point, getter, '')).toEqual(['x: reading it failed', 'y: it is blank'])
    expect(problemsOf(point, hostile({}), 'at')).toEqual(['at.x: reading it failed', 'at.y: reading it failed'])
  })

  it('are read once, so that what was checked is what is kept', () => {
    const answers = ['first', 'second']
    const shifty = Object.defineProperty({ y: 'y' }, 'x', { get: () => answers.shift() })
    expect(read(point, shifty)).toEqual({ x: 'first', y: 'y' })
  })

  it('never throw, wherever they are', () => {
    const revoked = (target: object): object => {
      const { proxy, revoke } = Proxy.revocable(target, {})
      revoke()
      return proxy
    }
    const made = [hostile({}), hostile([]), revoked({}), revoked([])]
    const checks: readonly Check<unknown>[] = [
      text,
      name,
      id,
      moment,
      trueOrFalse,
      wholeNumber(0),
      amount(0, 1),
      oneOf('a'),
      point,
      listOf(text),
      listOf(text, { least: 1 }),
      turn,
      reading,
      windowParts,
      monitorSettings,
      monitorReport,
      totals,
      workspace,
      restartBudget,
      traceContext,
      flags,
      checkpointFacts,
      hookResult,
    ]
    for (const check of checks) for (const value of made) expect(() => problemsOf(check, value)).not.toThrow()
    for (const check of [listOf(text), listOf(text, { least: 1 }), flags])
      for (const value of made) expect(problemsOf(check, value)).not.toEqual([])
  })

  it('cannot pass for a list that has a length of its own', () => {
    const lying = (length: unknown) =>
      new Proxy(['a', 'b'], { get: (target, key) => (key === 'length' ? length : Reflect.get(target, key)) })
    for (const length of [Number.NaN, 'two', undefined, -1, 0.5, { valueOf: throwing }])
      expect(problemsOf(listOf(text, { least: 1 }), lying(length))).not.toEqual([])
  })
})

describe('a turn as reported', () => {
  const call = (callId: string) => ({ callId, toolName: `tool-${callId}` })
  const messages = [
    { role: 'user', text: 'Go on' },
    { role: 'assistant', text: '', toolCalls: [call('a'), call('b')] },
    { role: 'tool', text: 'Found' },
  ]
  const metered = (promptTokens: unknown, outputTokens: unknown) => ({
    messages,
    usage: { state: 'metered', promptTokens, outputTokens },
  })
  const saying = (message: unknown) => ({ messages: [{ role: 'user', text: 'x' }, message] })

  it.each<object>([
    { messages },
    metered(0, 0),
    { messages, usage: { state: 'unknown' } },
    { messages, window: {}, producedAt: '2026-11-16T03:45:34.123Z' },
  ])('is fine: %j', (input) => {
    expect(read(turn, input)).toEqual(input)
  })

  it.each<[string, object, string]>([
    ['no messages', { messages: [] }, 'messages'],
    ['messages missing', {}, 'messages'],
    ['half a token', metered(0.5, 0), 'usage.promptTokens'],
    ['fewer than no tokens', metered(1, -1), 'usage.outputTokens'],
    ['tokens that are no number', metered(Number.NaN, 0), 'usage.promptTokens'],
    ['tokens that are text', metered('5', 0), 'usage.promptTokens'],
    ['an unknown role', saying({ role: 'robot', text: 'x' }), 'messages[1].role'],
    ['a message that is none', saying(null), 'messages[1]'],
    ['no text', saying({ role: 'user' }), 'messages[1].text'],
    ['a number for a text', saying({ role: 'user', text: 5 }), 'messages[1].text'],
    ['a list for a text', saying({ role: 'user', text: ['x'] }), 'messages[1].text'],
    ['a user who calls tools', saying({ role: 'user', text: 'x', toolCalls: [call('a')] }), 'messages[1]'],
    ['a call id twice', saying({ role: 'assistant', text: 'x', toolCalls: [call('a'), call('a')] }), 'messages[1]'],
    [
      'a blank call id',
      saying({ role: 'assistant', text: 'x', toolCalls: [{ callId: ' ', toolName: 't' }] }),
      'messages[1].toolCalls[0].callId',
    ],
    [
      'no tool name',
      saying({ role: 'assistant', text: 'x', toolCalls: [call('a'), { callId: 'b' }] }),
      'messages[1].toolCalls[1].toolName',
    ],
    ['a moment that is none', { messages, producedAt: 'yesterday' }, 'producedAt'],
  ])('is refused with %s', (_, input, field) => {
    expect(fieldsOf(turn, input)).toEqual([field])
  })
})

describe('readings, windows and totals', () => {
  it('takes an unknown or a metered reading, and no sum', () => {
    const provenance = { runtime: 'r', source: 's', semantics: 'x' }
    const fine = { state: 'metered', promptTokens: 5, outputTokens: 1, pendingTokens: 2 }
    expect(read(reading, { state: 'unknown', more: 1 })).toEqual({ state: 'unknown' })
    expect(read(reading, { ...fine, more: 1 })).toEqual(fine)
    for (const sum of [{ inputTokens: 5, outputTokens: 1 }, { state: 'summed' }, null, 5, 'unknown', []])
      expect(problemsOf(reading, sum)[0]).toContain('a sum over requests is no reading')
    expect(problemsOf(reading, undefined)).toEqual(['it: it is missing'])
    expect(fieldsOf(reading, { ...fine, provenance })).toEqual(['provenance.semantics'])
  })

  it('takes what is said of a window', () => {
    expect(read(windowParts, { autoCompactAt: 9, model: 'x' })).toEqual({ autoCompactAt: 9 })
    expect(fieldsOf(windowParts, { hardLimit: { tokens: 5, source: 'sdk' } })).toEqual(['hardLimit.source'])
    expect(fieldsOf(windowParts, { autoCompactAt: Number.NaN, configuredLimit: '5' })).toEqual([
      'configuredLimit',
      'autoCompactAt',
    ])
  })

  it.each<[string, object, string]>([
    ['negative tokens', { inputTokens: -1 }, 'inputTokens'],
    ['half a token', { outputTokens: 0.5 }, 'outputTokens'],
    ['no number of requests', { requests: Number.NaN }, 'requests'],
    ['a negative cost', { costUsd: -0.01 }, 'costUsd'],
    ['an endless cost', { costUsd: Number.POSITIVE_INFINITY }, 'costUsd'],
    ['a cost that two of would be endless', { costUsd: 1.7e308 }, 'costUsd'],
  ])('refuses totals with %s', (_, wrong, field) => {
    const fine = { inputTokens: 900, outputTokens: 80, requests: 7, costUsd: 0.25 }
    expect(read(totals, fine)).toEqual(fine)
    expect(fieldsOf(totals, { ...fine, ...wrong })).toEqual([field])
  })

  it.each<[unknown, readonly string[]]>([
    [{ type: 'guess' }, ['']],
    [{ type: 'toString' }, ['']],
    [{}, ['']],
    [null, ['']],
    [{ type: 'sample' }, ['reading']],
    [{ type: 'sample', reading: null }, ['reading']],
    [{ type: 'compaction', trigger: { evil: 1 } }, ['trigger']],
    [{ type: 'compaction', trigger: 'auto', preTokens: Number.NaN }, ['preTokens']],
    [{ type: 'compaction', trigger: 'auto', key: ' ' }, ['key']],
    [{ type: 'compacting', producedAt: 5 }, ['producedAt']],
    [{ type: 'cleared', producedAt: 'yesterday' }, ['producedAt']],
  ])('refuses the report %j', (report, fields) => {
    expect(fieldsOf(monitorReport, report)).toEqual(fields)
  })

  it('takes every kind of report', () => {
    const sample = { type: 'sample', reading: { state: 'unknown' }, window: { configuredLimit: 9 } }
    const compaction = { type: 'compaction', trigger: 'auto', preTokens: 9, key: 'k' }
    for (const report of [sample, compaction, { type: 'compacting' }, { type: 'cleared' }])
      expect(read(monitorReport, report)).toEqual(report)
  })

  it('takes the choices for a monitor one by one', () => {
    expect(read(monitorSettings, {})).toEqual({})
    const wrong = { isEnabled: 'yes', policy: 'never', milestones: [{ name: '', at: 2 }], contextLimit: 0 }
    expect(fieldsOf(monitorSettings, wrong)).toEqual([
      'isEnabled',
      'policy',
      'milestones[0].name',
      'milestones[0].at',
      'contextLimit',
    ])
  })
})

describe('what goes with conversations, handoffs and hooks', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001, '5'])('refuses %s ms', (value) => {
    expect(problemsOf(leaseMs, value)).toHaveLength(1)
    expect(read(leaseMs, 86_400_000)).toBe(86_400_000)
  })

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])(
    'refuses a claim of %s ms, also one past the end of time',
    (value) => {
      expect(problemsOf(claimMs, value)).toHaveLength(1)
      expect(read(claimMs, 60_000)).toBe(60_000)
    },
  )

  it('takes a workspace, a budget and a trace context of the right kind', () => {
    expect(fieldsOf(workspace, { workingDirectory: 5, worktreePath: '', branch: 'main' })).toEqual([
      'workingDirectory',
      'worktreePath',
    ])
    const wrong = { maxRestarts: 0.5, deadlineMs: -1, maxCostUsd: '5', whenExhausted: 'wait' }
    expect(fieldsOf(restartBudget, wrong)).toEqual(['maxRestarts', 'deadlineMs', 'maxCostUsd', 'whenExhausted'])
    expect(fieldsOf(traceContext, { traceparent: 5, tracestate: [] })).toEqual(['traceparent', 'tracestate'])
    expect(fieldsOf(traceContext, {})).toEqual(['traceparent'])
    expect(fieldsOf(flags, ['no_progress', 'nonsense'])).toEqual(['[1]'])
  })

  it.each<[string, object, string]>([
    ['an unknown outcome', { outcome: 'lost' }, 'outcome'],
    ['an unknown section', { sections: ['Gossip'] }, 'sections[0]'],
    ['a count that is none', { characters: -1 }, 'characters'],
    [
      'statements that are no counts',
      { statements: { cited: 1, uncited: 0.5, miscited: 0, exempt: 0 } },
      'statements.uncited',
    ],
    ['isCut that is neither', { isCut: 'yes' }, 'isCut'],
    ['a reason that is no text', { reason: 7 }, 'reason'],
    ['totals that are none', { totals: { inputTokens: Number.NaN, outputTokens: 0 } }, 'totals.inputTokens'],
  ])('refuses a checkpoint with %s', (_, wrong, field) => {
    const kept = { outcome: 'kept', characters: 9, sections: ['Goal'], isCut: false, reason: '' }
    expect(read(checkpointFacts, kept)).toEqual(kept)
    expect(fieldsOf(checkpointFacts, { ...kept, ...wrong })).toEqual([field])
  })

  it('takes how a hook went; one that failed says why', () => {
    const fine = { name: 'notify', type: 'shell', ok: true, output: '', durationMs: 3.6, exitCode: -1 }
    const error = { code: 'hook.http_status', message: '' }
    expect(read(hookResult, fine)).toEqual(fine)
    expect(read(hookResult, { ...fine, ok: false, error })).toEqual({ ...fine, ok: false, error })
    expect(problemsOf(hookResult, { ...fine, ok: false })).toEqual(['it: it failed and does not say why'])
    expect(fieldsOf(hookResult, { ...fine, type: 'mail', durationMs: -1, httpStatus: 1_000 })).toEqual([
      'type',
      'durationMs',
      'httpStatus',
    ])
    expect(fieldsOf(hookResult, { ...fine, ok: false, error: { code: 'nonsense', message: 5 } })).toEqual([
      'error.code',
      'error.message',
    ])
  })
})
