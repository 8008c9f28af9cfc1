/** A value nested so deep that a recursive function runs out of stack on it. */
const deep = (levels: number): unknown => {
  let value: unknown = 'the end'
  for (let level = 0; level < levels; level += 1) value = [{ type: 'tool_result', content: value }]
  return value
}

const DEEP = deep(20_000)
const LONG = 'x'.repeat(1_000_000)

/** Records of nobody, and JSON that is no record at all. */
export const FOREIGN: readonly unknown[] = [
  ...[null, true, 0, -1, '', 'assistant', [], {}, [[]], LONG, DEEP],
  { type: null },
  { type: 'batonpass_unheard_of', payload: {}, session_id: 'x', usage: { input_tokens: 5 } },
  { type: 42, message: { usage: { input_tokens: 5, output_tokens: 5 } } },
  { usage: { input_tokens: 5 }, totalUsage: { inputTokens: 5 } },
]

/** Sums over requests, as runtimes report them at the end of a turn or a run. */
export const SUMS: readonly object[] = [
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
export const anyJson = (seed: number): unknown => {
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
