import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { statusLineReader } from '../../src/adapters/claude/readers/status-line-reader.ts'
import { claude } from '../../src/adapters/claude/vendor.ts'
import type { HookCard } from '../../src/adapters/hook-client/hook-card.ts'
import { levelFor, type ReadStatus, readStatus } from '../../src/adapters/hook-client/hook-window.ts'
import { statusLine } from '../../src/adapters/hook-client/status-line.ts'
import { widthOf } from '../../src/domain/kernel/text-width.ts'
import { WindowGauge } from '../../src/domain/window/window-gauge.ts'
import { levelIn } from '../../src/domain/window/window-level.ts'
import { CLONE } from '../support/clean-room.ts'
import { FakeService, writeCard } from '../support/fake-service.ts'
import { alive, expectInTime, folder, problems, runHook, SESSION, spooled } from './spawned-hook.ts'

const usage = (input: number, created: number | null, read: number | null, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: created,
  cache_read_input_tokens: read,
})
const windowed = (context_window: unknown) => ({ session_id: SESSION, context_window, cost: { total_cost_usd: 1.234 } })
const FULL = windowed({
  context_window_size: 200_000,
  current_usage: usage(10, 990, 121_000, 400),
  used_percentage: 61,
})

describe('the level', () => {
  it.each([
    [
      'before the first call',
      { context_window_size: 200_000, current_usage: null, used_percentage: null },
      { reading: { state: 'unknown' }, windowTokens: 200_000 },
    ],
    [
      'before it knows',
      { context_window_size: 200_000, current_usage: null, used_percentage: 0 },
      { reading: { state: 'unknown' }, windowTokens: 200_000 },
    ],
    [
      'of totals alone',
      { total_input_tokens: 330_050, context_window_size: 200_000 },
      { reading: { state: 'unknown' }, windowTokens: 200_000 },
    ],
    [
      'of a percentage',
      { context_window_size: 200_000, used_percentage: 42.5 },
      { reading: { state: 'percentage', usedPercent: 42.5 }, windowTokens: 200_000 },
    ],
    ['of zeros', { current_usage: usage(0, 0, 0, 0) }, { reading: { state: 'unknown' } }],
    ['of text', { current_usage: { input_tokens: '9' }, used_percentage: 'x' }, { reading: { state: 'unknown' } }],
    ['of nothing', undefined, { reading: { state: 'unknown' } }],
    [
      'with output, and without the totals',
      { total_input_tokens: 5_000_000, context_window_size: 200_000, current_usage: usage(10, null, 990, 5) },
      { reading: { state: 'metered', promptTokens: 1_000, outputTokens: 5 }, windowTokens: 200_000 },
    ],
    [
      'over a size that is too small',
      { context_window_size: 200_000, current_usage: usage(1, 0, 288_000, 9), used_percentage: 144 },
      { reading: { state: 'metered', promptTokens: 288_001, outputTokens: 9 } },
    ],
  ])('%s', (_, context_window, read) => {
    expect(readStatus({ context_window })).toEqual(read)
  })
})

const CARD: HookCard = {
  milestones: [],
  isCompacting: false,
  window: {},
  variables: {},
  restarts: 0,
  costUsd: undefined,
  notices: [],
  afterCompaction: undefined,
}
const LOOK = { width: 80, isColoured: false, hasBlocks: false }
const shown = (read: ReadStatus, card: HookCard | undefined, look: Partial<typeof LOOK> = {}, costUsd?: number) =>
  statusLine(
    { level: levelFor(read, card, { variables: {}, window: claude.terminal?.window }), read, costUsd, card },
    { ...LOOK, ...look },
  )
const drawn = (card: Partial<HookCard>, look: Partial<typeof LOOK> = {}): string =>
  shown(readStatus(FULL), { ...CARD, ...card }, look, 1.234)

describe('the hook and the reader of the library', () => {
  it.each([
    { context_window_size: 200_000, current_usage: usage(10, 990, 121_000, 400), used_percentage: 61 },
    { context_window_size: 200_000, current_usage: usage(10, null, 990, 5) },
    { context_window_size: 200_000, used_percentage: 42.5 },
    { context_window_size: 200_000, current_usage: null, used_percentage: 0 },
    { context_window_size: 200_000, current_usage: null, used_percentage: null },
    { current_usage: usage(0, 0, 0, 0) },
    { total_input_tokens: 330_050, context_window_size: 200_000 },
  ])('find the same in %j', (context_window) => {
    const read = readStatus({ context_window })
    const gauge = new WindowGauge()
    gauge.take(statusLineReader.known?.({}) ?? [])
    gauge.take(statusLineReader.read({ session_id: SESSION, context_window }))
    expect(levelFor(read, undefined, { variables: {}, window: claude.terminal?.window })).toEqual(
      levelIn(gauge.reading(), gauge.windowParts()),
    )
    expect(read.reading.state).toBe(gauge.reading().state)
  })
})

describe('the line', () => {
  it('shows level, milestones, tokens, cost and restarts', () => {
    expect(drawn({ restarts: 2 })).toBe('window 73% ##########|##|---|-- · 122k of 167k · $1.23 · 2 restarts')
    expect(drawn({}, { hasBlocks: true, width: 76 })).toBe('window 73% ██████████│██│░░░│░░ · 122k of 167k · $1.23')
    expect(drawn({ milestones: [0.25, 1] }, { width: 76 })).toContain(' #####|########-----| ')
  })

  it('says what the tokens are a share of, where there is room', () => {
    const words = '122k of 167k before it compacts (200k window)'
    expect(drawn({}, { width: 100 })).toBe(`window 73% ##########|##|---|-- · ${words} · $1.23`)
    expect(drawn({}, { width: 79 })).toBe(`window 73% #####||-|- · ${words} · $1.23`)
    expect(drawn({}, { width: 76 })).toBe('window 73% ##########|##|---|-- · 122k of 167k · $1.23')
  })

  it('counts what the service knows of the window beside what the runtime says', () => {
    const seen = drawn({ window: { compactedAt: 135_000 } }, { width: 100 })
    expect(seen).toMatch(/^window 90% .* 122k of 135k before it compacts \(200k window\)/)
    const allowed = drawn({ window: { configuredLimit: 150_000 } }, { width: 100 })
    expect(allowed).toMatch(/^window 81% .* 122k of 150k allowed \(200k window\)/)
    expect(drawn({ variables: { DISABLE_AUTO_COMPACT: '1' } }, { width: 100 })).toMatch(/^window 61% .* 122k of 200k ·/)
    expect(drawn({ variables: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '183000' } })).toMatch(/^window 81% .* 122k of 150k/)
  })

  it('cuts a notice between words', () => {
    const notices = ['A 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890']
    const shown: string[] = []
    for (let width = 40; width < 80; width += 1) shown.push(/ · (A.*)…$/.exec(drawn({ notices }, { width }))?.[1] ?? '')
    expect(new Set(shown).size).toBeGreaterThan(2)
    for (const part of shown) expect(part).toMatch(/^(?:A(?: 1234567890)*)?$/)
  })

  it('says what is not known', () => {
    const unknown: ReadStatus = { reading: { state: 'unknown' } }
    expect(shown(unknown, undefined)).toBe('window ?')
    expect(shown(unknown, { ...CARD, isCompacting: true })).toBe('window compacting')
    const over = readStatus({
      context_window: { context_window_size: 200_000, current_usage: usage(1, 0, 288_000, 9) },
    })
    expect(shown(over, undefined)).toBe('window 288k of ?')
    const known = { hardLimit: { tokens: 1_000_000, source: 'catalogue' as const }, autoCompactAt: 967_000 }
    expect(shown(over, { ...CARD, window: known })).toContain('288k of 967k')
  })

  it.each([200, 80, 60, 50, 40, 30, 20, 12, 10, 5, 1])('fits into %d columns, and keeps the level longest', (width) => {
    const notices = ['警告: ウィンドウは61%です 🎈', 'warning: 61% of the window is used; finish soon']
    for (const look of [{ width }, { width, hasBlocks: true }, { width, isColoured: true }]) {
      for (const card of [{}, { restarts: 3 }, { restarts: 3, notices }]) {
        const line = stripVTControlCharacters(drawn(card, look))
        expect(widthOf(line)).toBeLessThanOrEqual(width)
        if (width >= 10) expect(line).toMatch(/^window 73%/)
        if (width >= 60 && 'notices' in card) expect(line).toContain('警告')
      }
    }
  })

  it('is coloured by the milestones that are reached', () => {
    const colour = (milestones: readonly number[]) => drawn({ milestones }, { isColoured: true }).slice(0, 5)
    expect([colour([0.75, 0.8]), colour([0.5, 0.8]), colour([0.5, 0.6])]).toEqual([
      '\u001b[32m',
      '\u001b[33m',
      '\u001b[31m',
    ])
  })

  it('is not steered by a notice', () => {
    const line = drawn({ notices: ['red \u001b[31malert\u001b[0m\nnext\u202e'] })
    expect(line).not.toContain('\u001b')
    expect(line).not.toContain('\n')
    expect(line).toContain('\\u{1b}[31malert')
  })
})

describe('baton hook statusline', () => {
  it('draws a line before the first call and posts nothing', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const input = windowed({ context_window_size: 200_000, current_usage: null, used_percentage: null })
    const ended = await runHook(dir, 'statusline', { input })
    expectInTime(ended)
    expect(ended.out).toBe('window ? · $1.23\n')
    expect(service.requests).toEqual([])
    expect(spooled(dir)).toEqual([])
  })

  it('posts a sample once, without what a sample does not need', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.card(SESSION, {
      notices: ['The parent was told.'],
      restarts: 1,
      costUsd: 5,
      milestones: [{ name: 'a', at: 0.9 }],
    })
    const ended = await runHook(dir, 'statusline', { input: { ...FULL, workspace: { current_dir: '/secret' } } })
    expectInTime(ended)
    expect(ended.out).toBe('window 73% ##############----|- · $5.00 · 1 restart · The parent was told.\n')
    expect(service.requests).toMatchObject([{ event: 'statusline', payload: FULL }])
    expect(service.requests[0]?.payload).not.toHaveProperty('workspace')
    expect(spooled(dir)).toEqual([])
  })

  it('takes the width from --width, from COLUMNS, or is right for a terminal of 80 columns', async () => {
    const dir = folder()
    writeCard(dir, SESSION, { notices: ['x'.repeat(300)] })
    const widthWith = async (flags: readonly string[], environment: Readonly<Record<string, string>>) =>
      widthOf((await runHook(dir, 'statusline', { input: FULL, flags, environment })).out.trimEnd())
    expect(await widthWith([], {})).toBe(76)
    expect(await widthWith([], { COLUMNS: '120' })).toBe(116)
    expect(await widthWith(['--width=50'], { COLUMNS: '120' })).toBe(50)
    expect(await widthWith(['--width', 'wide'], { COLUMNS: 'x' })).toBe(76)
  })

  it('is coloured unless somebody minds, and uses blocks where they are one column wide', async () => {
    const dir = folder()
    const draw = async (flags: readonly string[], environment: Readonly<Record<string, string>>) =>
      (await runHook(dir, 'statusline', { input: FULL, flags, environment })).out
    expect(await draw([], { NO_COLOR: '' })).toContain('\u001b[33m')
    expect(await draw(['--no-color'], { NO_COLOR: '' })).not.toContain('\u001b')
    expect(await draw([], { NO_COLOR: '', TERM: 'dumb' })).not.toContain('\u001b')
    expect(await draw([], { LANG: 'en_GB.UTF-8' })).toContain('█')
    expect(await draw([], { LANG: 'ja_JP.UTF-8' })).not.toContain('█')
  })

  it('has nothing to say to Codex', async () => {
    const dir = folder()
    const ended = await runHook(dir, 'statusline', { input: FULL, flags: ['--runtime', 'codex'] })
    expect(ended).toMatchObject({ code: 0, out: '' })
    expect(problems(dir)).toEqual(['Codex has no status line that a program draws'])
  })
})

describe('the person’s own status line', () => {
  const draw = (dir: string, command: string, environment: Readonly<Record<string, string>> = {}) =>
    runHook(dir, 'statusline', { input: FULL, flags: ['--then', command], environment })

  it('gets the same input and comes first, in the same row where both fit', async () => {
    const dir = folder()
    const ended = await draw(dir, `cat > "${dir}/seen"; printf 'main *'`)
    expectInTime(ended)
    expect(ended.out).toMatch(/^main \* · window 73%.*\n$/)
    expect(JSON.parse(readFileSync(join(dir, 'seen'), 'utf8'))).toEqual(FULL)
  })

  it('keeps its colours and its rows', async () => {
    const dir = folder()
    const { out } = await draw(dir, `printf 'one\\n\\033[35m%s' ${'x'.repeat(60)}`)
    const lines = out.trimEnd().split('\n')
    expect(lines).toEqual(['one', `\u001b[35m${'x'.repeat(60)}\u001b[0m`, expect.stringMatching(/^window 73%/)])
  })

  it.each([
    ['fails', 'echo broken; exit 3', 'ended with 3'],
    ['is not there', 'no-such-program-anywhere', 'ended with 127'],
    ['says too much', 'yes', 'printed more than 16 KiB'],
    ['never ends', 'sleep 1000', 'took too long'],
  ])('that %s does not keep ours from being drawn', async (_, command, problem) => {
    const dir = folder()
    const ended = await draw(dir, command, { BATONPASS_HOOK_BUDGET_MS: '6000' })
    expectInTime(ended)
    expect(ended.out).toMatch(/^window 73%.*\n$/)
    expect(problems(dir)).toEqual([`the previous status line ${problem}`])
  })

  it('is ended with everything it started', async () => {
    const dir = folder()
    const pids = join(dir, 'pids')
    await draw(dir, `sleep 1000 & echo $! > "${pids}"; echo $$ >> "${pids}"; sleep 1000`, {
      BATONPASS_HOOK_BUDGET_MS: '6000',
    })
    expect(existsSync(pids)).toBe(true)
    expect(alive(pids)).toEqual([])
  })

  it('that leaves something running is not waited for', async () => {
    const dir = folder()
    const ended = await draw(dir, 'sleep 1000 & printf quick')
    expect(ended.out).toMatch(/^quick · window 73%/)
  })
})

const RECORDINGS = join(CLONE, '../shared/recordings/statusline')
describe.runIf(existsSync(RECORDINGS))('recorded status lines', () => {
  const expected: Readonly<Record<string, string>> = {
    'after-compact-null-usage.json': 'window ?',
    'ccstatusline-payload.example-start.json': 'window ?',
    'ccstatusline-payload.example.json': 'window 1% -----||-|- · 17k of 967k before it compacts (1M window) · $0.01',
    'issue-13783-old-cumulative.json': 'window ?',
    'issue-76751-real-payload-context_window.json':
      'window 96% #####||#|- · 161k of 167k before it compacts (200k window)',
  }
  it.each(existsSync(RECORDINGS) ? readdirSync(RECORDINGS) : [])('%s', async (name) => {
    const dir = folder()
    const { code, out } = await runHook(dir, 'statusline', { input: readFileSync(join(RECORDINGS, name), 'utf8') })
    expect(code).toBe(0)
    if (name in expected) expect(out).toBe(`${expected[name]}\n`)
    else expect(out).toMatch(/^window /)
  })
})
if (!existsSync(RECORDINGS)) console.log(`The recorded status lines were not tried: there is no ${RECORDINGS}.`)
