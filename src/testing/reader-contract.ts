import assert from 'node:assert/strict'
import type { WindowEvent } from '../domain/window/window-event.ts'
import type { WindowReader } from '../ports/agent/window-reader.ts'
import type { Harness } from './store-contract.ts'

/** A reader under test, with records of its own runtime, so that it has something to read. */
export interface ReaderUnderTest {
  readonly reader: WindowReader
  /** Whole records as the runtime sends them, at least one of which says something. */
  readonly records: readonly unknown[]
}

/** How many damaged copies of each record are tried. */
const DAMAGES = 200

type Case = (made: ReaderUnderTest) => void

const CASES: Readonly<Record<string, Case>> = {
  'knows its own records, and says something of them': ({ reader, records }) => {
    assert.ok(records.some((record) => reader.recognises(record)))
    assert.ok(records.some((record) => reader.read(record).length > 0))
  },
  'says nothing of what is not its own, and never throws': ({ reader }) => {
    for (const record of FOREIGN) {
      demand(!reader.recognises(record), record)
      demand(reader.read(record).length === 0, record)
      demand((reader.words?.(record).texts ?? []).length === 0, record)
    }
  },
  'never throws on a damaged record, and says only what can be true': ({ reader, records }) => {
    for (const record of records) for (const damaged of damagesOf(record)) plausible(reader, damaged)
  },
  'never throws on any JSON at all': ({ reader }) => {
    for (let seed = 1; seed <= 2_000; seed += 1) plausible(reader, anyJson(seed))
  },
  'keeps no state: the same record says the same, whatever came between, and is left as it was': ({
    reader,
    records,
  }) => {
    const first = records.map((record) => structuredClone(reader.read(frozen(structuredClone(record)))))
    const backwards = records.toReversed().map((record) => reader.read(record))
    assert.deepEqual(backwards.toReversed(), first)
    assert.deepEqual(
      records.map((record) => reader.read(record)),
      first,
    )
  },
  'lets unknown fields and types through': ({ reader, records }) => {
    for (const record of records) {
      assert.deepEqual(reader.read(withMore(record)), reader.read(record))
      if (typeOf(record) !== undefined)
        demand(reader.read({ ...Object(record), type: 'batonpass_unheard_of' }).length === 0, record)
    }
  },
  'never takes a sum over requests for a reading': ({ reader, records }) => {
    // Under the names its own records carry, such as a session's, so that it takes them seriously.
    const names = Object.entries(Object(records[0])).filter(([, value]) => typeof value === 'string')
    for (const sum of SUMS)
      for (const event of reader.read({ ...Object.fromEntries(names), ...sum })) demand(event.type !== 'request', sum)
  },
}

/**
 * The contract of every reader: never throw, say nothing of unknown records, and keep no state.
 *
 * @example
 * ```ts
 * import { describe, it } from 'node:test'
 *
 * const usage = { input_tokens: 3, cache_read_input_tokens: 20_000, output_tokens: 7 }
 * const answer = { type: 'assistant', session_id: 's', message: { id: 'msg_1', content: [], usage } }
 * readerContract(() => ({ reader: agentSdkReader, records: [answer] }), { describe, it })
 * ```
 */
export const readerContract = (make: () => ReaderUnderTest, { describe, it }: Harness): void => {
  describe(`reader contract: ${make().reader.format}`, () => {
    for (const [name, run] of Object.entries(CASES)) it(name, async () => run(make()))
  })
}

/** Reads a record that may be anything: it may say something, but only what a runtime could mean. */
const plausible = (reader: WindowReader, record: unknown): void => {
  const isKnown: unknown = reader.recognises(record)
  assert.equal(typeof isKnown, 'boolean')
  for (const { text } of reader.words?.(record).texts ?? []) demand(typeof text === 'string', record)
  for (const event of reader.read(record)) {
    for (const tokens of countsOf(event)) demand(Number.isFinite(tokens) && tokens >= 0, record)
    // An empty request is no reading.
    if (event.type === 'request') demand(event.promptTokens > 0, record)
  }
}

const countsOf = (event: WindowEvent): readonly number[] =>
  Object.values(event).filter((value): value is number => typeof value === 'number')

/** Copies of a record in which one part is replaced by something that has no business there. */
function* damagesOf(record: unknown): Generator<unknown> {
  for (let seed = 1; seed <= DAMAGES; seed += 1) {
    const copy: unknown = structuredClone(record)
    const places = [...placesIn(copy)]
    const place = places[seed % Math.max(1, places.length)]
    if (place !== undefined) place.holder[place.name] = anyJson(seed)
    yield copy
  }
}

interface Place {
  readonly holder: Record<string, unknown>
  readonly name: string
}

function* placesIn(value: unknown): Generator<Place> {
  if (typeof value !== 'object' || value === null) return
  const holder = value as Record<string, unknown>
  for (const name of Object.keys(holder)) {
    yield { holder, name }
    yield* placesIn(holder[name])
  }
}

const frozen = (value: unknown): unknown => {
  for (const { holder } of placesIn(value)) Object.freeze(holder)
  return value
}

/** The same record with fields nobody has heard of, at every depth but in lists. */
const withMore = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const more = Object.entries(value).map(([name, part]) => [name, withMore(part)] as const)
  return { ...Object.fromEntries(more), batonpass_unheard_of: { usage: { input_tokens: 1 } } }
}

const typeOf = (record: unknown): unknown =>
  typeof record === 'object' && record !== null && 'type' in record ? record.type : undefined

/** Names the record when something is wrong with what was read of it. Shown only then: some are very large. */
const demand = (isRight: boolean, record: unknown): void => {
  if (!isRight) assert.fail(`it was wrong about ${shown(record)}`)
}

const shown = (record: unknown): string => {
  try {
    return JSON.stringify(record).slice(0, 300)
  } catch {
    return 'a record too deep to show'
  }
}

/** A value nested so deep that a recursive function runs out of stack on it. */
const deep = (levels: number): unknown => {
  let value: unknown = 'the end'
  for (let level = 0; level < levels; level += 1) value = [{ type: 'tool_result', content: value }]
  return value
}

const DEEP = deep(20_000)
const LONG = 'x'.repeat(1_000_000)

/** Records of nobody, and JSON that is no record at all. */
const FOREIGN: readonly unknown[] = [
  ...[null, true, 0, -1, '', 'assistant', [], {}, [[]], LONG, DEEP],
  { type: null },
  { type: 'batonpass_unheard_of', payload: {}, session_id: 'x', usage: { input_tokens: 5 } },
  { type: 42, message: { usage: { input_tokens: 5, output_tokens: 5 } } },
  { usage: { input_tokens: 5 }, totalUsage: { inputTokens: 5 } },
]

/** Sums over requests, as runtimes report them at the end of a turn or a run. */
const SUMS: readonly object[] = [
  { type: 'result', usage: { input_tokens: 50_587, output_tokens: 432 }, modelUsage: { m: { inputTokens: 50_587 } } },
  { type: 'turn.completed', usage: { input_tokens: 41_613, cached_input_tokens: 1, output_tokens: 90 } },
  { type: 'system', subtype: 'task_progress', usage: { total_tokens: 60_000, tool_uses: 3 } },
  { type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: { total_tokens: 1_362_757 } } } },
]

const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 0.5, 1e308, Number.POSITIVE_INFINITY, 2 ** 53, '', '0', LONG, [], {}, DEEP],
  ...['9999-12-31T23:59:59Z', '+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00.000Z', 'tomorrow', '\ud800'],
  ...['assistant', 'user', 'system', 'result', 'event_msg', 'token_count', 'compacted', 'message_start', '<synthetic>'],
  JSON.parse('{"__proto__":{"type":"assistant"},"constructor":1,"toString":null}'),
]

const NAMES = ['type', 'subtype', 'message', 'usage', 'content', 'payload', 'info', 'event', 'item', 'id', 'model']

/** Some JSON, the same for the same seed; now and then shaped a little like a record. */
const anyJson = (seed: number): unknown => {
  const next = numbersFrom(seed)
  const make = (depth: number): unknown => {
    const kind = next(depth > 4 ? 2 : 5)
    if (kind < 2) return ODD[next(ODD.length)]
    if (kind === 2) return Array.from({ length: next(4) }, () => make(depth + 1))
    return Object.fromEntries(Array.from({ length: next(6) }, () => [NAMES[next(NAMES.length)], make(depth + 1)]))
  }
  return make(0)
}

/** Whole numbers below a limit, from a seed (mulberry32): a failure comes back the same. */
const numbersFrom = (seed: number): ((below: number) => number) => {
  let state = Math.imul(seed, 0x9e3779b1)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
