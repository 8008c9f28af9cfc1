import { describe, expect, it } from 'vitest'
import { claude } from '../../src/adapters/claude/vendor.ts'
import { renderFigures } from '../../src/adapters/cli/render/run-lines.ts'
import { renderStatus } from '../../src/adapters/cli/render/status-lines.ts'
import { describeMonitor } from '../../src/adapters/cli/render/window-facts.ts'
import { levelFor, readStatus } from '../../src/adapters/hook-client/hook-window.ts'
import { statusLine } from '../../src/adapters/hook-client/status-line.ts'
import { sessionOut } from '../../src/adapters/http/session-views.ts'
import { DEFAULT_MILESTONES } from '../../src/domain/window/milestone.ts'
import { describeFigures } from '../../src/domain/window/window-level.ts'
import { statusLineReader, transcriptReader } from '../../src/entry/claude.ts'
import { createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import { readWorkStatus } from '../../src/services/history/work-status.ts'
import { replay } from '../../src/services/replay/record-replay.ts'
import { play } from '../runner/played.ts'
import { Stage } from '../terminal/stage.ts'

const SENT = {
  input_tokens: 10,
  cache_creation_input_tokens: 990,
  cache_read_input_tokens: 171_000,
  output_tokens: 1_000,
}
const STATUS = { session_id: 's', context_window: { context_window_size: 200_000, current_usage: SENT } }
const WORDS = '173k of 167k before it compacts (200k window)'

const replayedEnd = async (record: object, reader: typeof statusLineReader) => {
  const lines = async function* () {
    yield JSON.stringify(record)
  }
  const believed = () => ({ tokens: 200_000, source: 'catalogue' as const })
  const { level } = await replay(lines(), { readers: [reader], milestones: DEFAULT_MILESTONES, believed })
  return level.state === 'known' ? describeFigures(level) : level.state
}

describe('the level of one window is the same figure', () => {
  it('in the status line, before the service has answered', () => {
    const read = readStatus(STATUS)
    const facts = {
      read,
      level: levelFor(read, undefined, { variables: {}, window: claude.terminal?.window }),
      costUsd: undefined,
      card: undefined,
    }
    const line = statusLine(facts, { width: 120, isColoured: false, hasBlocks: false })
    expect(line).toMatch(/^window 103% /)
    expect(line).toContain(WORDS)
  })

  it('in the service, in baton status and in baton sessions show', async () => {
    await using stage = new Stage()
    await stage.start()
    await stage.hook('statusline', { raw: STATUS })
    const { requests } = await stage.open()
    const view = await requests.view(stage.id)
    if (!view.ok) throw new Error(view.error.code)
    expect(sessionOut(view.value).level).toMatchObject({ percent: 103, text: `103 % full: ${WORDS}` })
    expect(describeMonitor(view.value.monitor).pressure).toBe(`103 % full: ${WORDS}, by runtime`)
    const work = await readWorkStatus({ store: stage.store })
    const shown = renderStatus({ store: 'x', service: { state: 'none' }, work }, Date.now(), 120)
    expect(shown.flat().map(({ text }) => text.trim())).toContain('103 % of 167k')
  })

  it('in a run', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const runtime = functionRuntime<string>({
      backend: 'scripted',
      start: async function* () {
        yield 'Done.'
      },
      read: (text) => ({
        texts: [{ role: 'assistant', text }],
        events: [...(statusLineReader.known?.({}) ?? []), ...statusLineReader.read(STATUS)],
      }),
    })
    const { events } = await play(batonpass, runtime, { policy: 'manual' })
    const turn = events.find((event) => event.type === 'turn:recorded')
    expect(turn && renderFigures(turn)).toBe(`[██████████] 103 %, ${WORDS}`)
  })

  it('in a replay of either recording', async () => {
    expect(await replayedEnd(STATUS, statusLineReader)).toBe(`103 % full: ${WORDS}`)
    const message = { id: 'm', model: 'claude-haiku-4-5', content: [], usage: SENT }
    const answer = { type: 'assistant', sessionId: 's', uuid: 'u', message }
    expect(await replayedEnd(answer, transcriptReader)).toBe(`103 % full: ${WORDS}`)
  })
})
