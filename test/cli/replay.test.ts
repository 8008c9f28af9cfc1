import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { baton, replayed } from '../replay/run-replay.ts'

const FIXTURES = 'test/fixtures/recordings'
const folder = mkdtempSync(join(tmpdir(), 'baton-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const written = (name: string, text: string): string => {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  return file
}

describe('baton replay', () => {
  it('says what the window went through, with a small chart', async () => {
    const { code, out, err } = await baton(`${FIXTURES}/claude-code/compactions.jsonl`)
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')).toEqual([
      `${FIXTURES}/claude-code/compactions.jsonl`,
      '  claude-code, claude-haiku-4-5: 7 turns, 3 tool calls, 0 subagent turns left out',
      '  context 32,000 last, 155,000 peak, window 155,700 (observed)',
      '  in the end 20 % full: 32k of 156k before it compacts (200k window)',
      '  ▅▇▅█▃▆▂',
      '  compaction (auto): 155,000 before, 45,000 after, the runtime counted 155,700',
      '  compaction (manual): 105,000 before, 32,000 after, the runtime counted 105,300',
      '  turn 1: warning (50 %) at 59 %',
      '  turn 2: critical (65 %) at 77 %',
      '  turn 4: restart (85 %) at 92 %',
      '  turn 6: critical (65 %) at 67 %',
      '  other thresholds: 40 % 2× from turn 1, 50 % 2× from turn 1, 60 % 2× from turn 1, 70 % 1× from turn 2, 80 % 1× from turn 4, 90 % 1× from turn 4',
      '  2 damaged lines skipped',
    ])
  })

  it('has these fields in JSON, one object per file', async () => {
    const [first, ...others] = await replayed(`${FIXTURES}/codex`)
    expect(others.map(({ file }) => file)).toEqual([`${FIXTURES}/codex/exec.jsonl`, `${FIXTURES}/codex/rollout.jsonl`])
    expect(Object.keys(first ?? {})).toEqual([
      ...['file', 'format', 'turns', 'peakContext', 'lastContext', 'window', 'wholeWindow', 'level'],
      ...[
        'compactions',
        'subagentTurns',
        'toolCalls',
        'signals',
        'thresholds',
        'model',
        'unmetered',
        'lines',
        'damagedLines',
      ],
    ])
  })

  it('moves milestones, and takes a limit of your own', async () => {
    const file = `${FIXTURES}/claude-code/compactions.jsonl`
    const [later] = await replayed(file, '--milestones', '0.7,0.95')
    expect(later?.signals.map(({ milestone, turn }) => [milestone, turn])).toEqual([['warning', 2]])
    const [limited] = await replayed(file, '--window', '160000')
    expect(limited?.window).toEqual({ tokens: 160_000, source: 'configured' })
    expect(limited?.signals.map(({ milestone, turn }) => [milestone, turn])).toEqual([
      ['warning', 1],
      ['critical', 2],
      ['restart', 4],
      ['critical', 6],
    ])
  })

  it('takes a format by name, and says nothing of what does not fit it', async () => {
    const [replay] = await replayed(`${FIXTURES}/codex/rollout.jsonl`, '--format', 'claude-code')
    expect(replay).toMatchObject({ format: 'claude-code', turns: 0, damagedLines: 0 })
  })

  it('skips what is damaged, wherever it is', async () => {
    const file = written('damaged.jsonl', 'garbage\n\n{"half":\n{"type":"thread.started","thread_id":"t"}\n\u0000\n[1,')
    expect(await replayed(file)).toMatchObject([{ format: 'codex-exec', damagedLines: 4, lines: 6 }])
    expect(await replayed(written('empty.jsonl', ''))).toMatchObject([{ format: 'unknown', turns: 0 }])
  })

  it.each<readonly [string, readonly string[], string]>([
    ['no file', [], 'Say which file or folder to replay.'],
    ['a file that is not there', ['nowhere.jsonl'], 'There is no file or folder "nowhere.jsonl".'],
    ['milestones out of order', ['x', '--milestones', '0.6,0.5'], '0.5 does not come after 0.6'],
    ['an empty milestone', ['x', '--milestones', '0.5,,0.7'], 'NaN is not a fraction'],
    ['a milestone above 1', ['x', '--milestones', '50'], '50 is not a fraction above 0 and up to 1'],
    ['a window of nothing', ['x', '--window', '0'], 'A window is a number of tokens, got "0".'],
    ['an unknown format', [`${FIXTURES}/codex/exec.jsonl`, '--format', 'x'], 'There is no format "x". Known formats:'],
  ])('refuses %s', async (_, args, problem) => {
    const { code, err } = await baton(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(problem)])
  })

  it('refuses a named file of nobody, and passes over one in a folder', async () => {
    const file = written('some/other.jsonl', '{"level":"info"}\n')
    expect(await baton(file)).toMatchObject({
      code: 2,
      err: expect.stringContaining('no recording of a known runtime'),
    })
    written('some/own.jsonl', '{"type":"thread.started","thread_id":"t"}\n')
    const { code, out, err } = await baton(join(folder, 'some'))
    expect([code, out]).toEqual([0, expect.stringContaining('own.jsonl\n  codex-exec: 0 turns')])
    expect(err).toContain('other.jsonl: This is no recording of a known runtime.')
  })

  it.each(['root:x:0:0:root:/root:/bin/bash\nbin:x:1:1::/bin:\n', '{"half":'])(
    'refuses a file in which no line is a record: %j',
    async (text) => {
      const { code, out, err } = await baton(written('no-records.jsonl', text))
      expect([code, out, err]).toEqual([2, '', expect.stringContaining('no recording of a known runtime')])
    },
  )

  it('prints no control characters that a recording brings', async () => {
    const message = { id: 'm', model: 'evil\u001b[2J', content: [], usage: { input_tokens: 5 } }
    const record = { type: 'assistant', sessionId: 's', uuid: 'u', message }
    const file = written('nasty.jsonl', `${JSON.stringify(record)}\n`)
    expect((await baton(file)).out).toContain('evil\\u{1b}[2J')
    expect((await baton(file, '--json')).out).not.toContain('\u001b')
  })

  it('imports into the embedded store, once', async () => {
    const args = [`${FIXTURES}/claude-code/inline-sidechain.jsonl`, '--store', '--data-dir', join(folder, 'store')]
    const [first] = await replayed(...args)
    expect(first?.imported).toMatchObject({ turns: 2, added: 2 })
    const { out, err } = await baton(...args, `${FIXTURES}/claude-code/compactions.jsonl`)
    expect(err.match(/Prompts of unknown origin: \d+\. No hook saw/g)).toHaveLength(1)
    expect(out).toContain(`  conversation ${first?.imported?.conversationId}: 2 turns, 0 of them new`)
  })
})
