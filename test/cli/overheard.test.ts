import { describe, expect, it } from 'vitest'
import { withListener } from '../../src/adapters/cli/choose/listened-runtime.ts'
import { systemClock } from '../../src/entry/container.ts'
import { type AgentRuntime, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Script } from '../../src/entry/testing.ts'
import { play, script, spoken, turn } from '../runner/played.ts'

const LAND = 'Finish the step you are at.'

/** A window that reaches the critical milestone and then the restart, and one in which the work ends. */
const WINDOWS: Script['windows'] = [{ turns: [turn(700, 'read'), turn(900, 'edit')] }, { turns: [turn(100)] }]

const listened = (more: Partial<Script> = {}) => {
  const heard: string[] = []
  const runtime = script(WINDOWS, more)
  const listening = withListener(runtime, {
    onTexts: (texts) => heard.push(...texts.flatMap(({ role, text }) => (role === 'assistant' ? [text] : []))),
    onTotals: () => {},
  })
  return { runtime, listening, heard }
}

const SILENT = { onTexts: () => {}, onTotals: () => {} }

/** What a runtime says of itself, and which of the things that not every runtime can do it can. */
const powers = (runtime: AgentRuntime) => ({
  about: [runtime.backend, runtime.takesSessionId, runtime.reportsCost, runtime.reportsWindow, runtime.takesTools],
  can: (['resume', 'has', 'transcript', 'ask'] as const).filter((power) => runtime[power] !== undefined),
})

describe('a runtime that the command line listens to', () => {
  it('hears what is said to it at work, and it is on record', async () => {
    const store = new MemoryStore({ clock: systemClock })
    const batonpass = await createBatonpass({ store })
    const { runtime, listening, heard } = listened({ takesInput: true })
    const { summary } = await play(batonpass, listening, { softLanding: LAND })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(runtime.told.map(({ text }) => text.startsWith(LAND))).toEqual([true])
    expect((await spoken(store, summary)).filter((text) => text.startsWith(`system: ${LAND}`))).toHaveLength(1)
    expect(heard).toEqual(['At 700.', 'At 900.', 'At 100.'])
  })

  it('is told nothing when nothing can be said to it', async () => {
    const batonpass = await createBatonpass({ store: 'memory' })
    const { runtime, listening } = listened()
    const { events } = await play(batonpass, listening, { softLanding: LAND })
    expect(runtime.told).toEqual([])
    expect(events.some(({ type }) => type === 'context:landing')).toBe(false)
  })

  it('can do what it could before, and nothing more', async () => {
    const transcript = async function* () {
      yield { events: [], texts: [] }
    }
    const all = Object.assign(script(WINDOWS, { backend: 'codex', takesSessionId: false, takesTools: true }), {
      transcript,
    })
    expect(powers(withListener(all, SILENT))).toEqual(powers(all))
    const { backend, takesSessionId } = all
    const least: AgentRuntime = { backend, takesSessionId, start: (launch) => all.start(launch) }
    expect(powers(withListener(least, SILENT))).toEqual(powers(least))
    expect(powers(least)).not.toEqual(powers(all))
  })

  it('says whether it works on while nobody reads', () => {
    const launch = { prompt: 'Go', signal: new AbortController().signal }
    for (const worksAhead of [true, false]) {
      const { runtime } = listened()
      const start = runtime.start.bind(runtime)
      runtime.start = (given) => ({ ...start(given), worksAhead })
      expect(withListener(runtime, SILENT).start(launch).worksAhead).toBe(worksAhead)
    }
  })
})
