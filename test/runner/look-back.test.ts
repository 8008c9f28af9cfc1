import { describe, expect, it } from 'vitest'
import { LOOK_BACK_NOTE } from '../../src/domain/checkpoint/continuation.ts'
import type { LookBackAnswer } from '../../src/domain/history/look-back.ts'
import { ok } from '../../src/domain/kernel/result.ts'
import { buildContainer, systemClock, TOKENS } from '../../src/entry/container.ts'
import type { Batonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { LookBackRequest } from '../../src/entry/ports.ts'
import type { Script, ScriptedRuntime } from '../../src/entry/testing.ts'
import type { RunTools, ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'
import { lookBack, type ToolSaid } from '../support/tools-client.ts'
import { ENDS, FILLS, play, recorded, script, TASK } from './played.ts'

const CHECKPOINT = '<checkpoint>\n## Completed work\n- Half of it\n</checkpoint>'
const FILLED = { turns: FILLS, checkpoint: CHECKPOINT }
const WINDOWS = [FILLED, FILLED, { turns: ENDS }]

/** Something long that was found, in answer to whatever was asked. */
const found = ({ question, limit = 8_000 }: LookBackRequest): LookBackAnswer => ({
  question,
  found: [],
  isWhole: false,
  next: 'x'.repeat(limit),
})

interface Played {
  readonly batonpass: Batonpass
  readonly store: MemoryStore
  readonly asked: LookBackRequest[]
}

/** Batonpass with somebody who answers at length and remembers what was asked. */
const withAnswers = (more: { readonly runTools?: RunTools } = {}): Played => {
  const asked: LookBackRequest[] = []
  const store = new MemoryStore({ clock: systemClock })
  const parts = buildContainer({ store, ...more })
  const ask = async (request: LookBackRequest) => {
    asked.push(request)
    return ok(found(request))
  }
  parts.register(TOKENS.lookBack, { useValue: { ask } as never })
  return { batonpass: parts.resolve(TOKENS.batonpass), store, asked }
}

/** An agent that takes tools, and calls look_back with these words as often as it works. */
const asking = (said: ToolSaid[], more: Partial<Script> = {}): ScriptedRuntime => {
  const runtime: ScriptedRuntime = script(WINDOWS, {
    takesTools: true,
    onStep: async ({ texts }) => {
      const { tools } = runtime.launches.at(-1) ?? {}
      if (tools !== undefined && texts.length > 0) said.push(await lookBack(tools, { words: 'quokka' }))
    },
    ...more,
  })
  return runtime
}

const isReached = async ({ url }: ToolsEndpoint): Promise<boolean> =>
  fetch(url, { method: 'POST' }).then(
    () => true,
    () => false,
  )

describe('a continued session of a run', () => {
  it('is offered look_back and told of it in one sentence; the first one is not', async () => {
    const { batonpass, asked } = withAnswers()
    const said: ToolSaid[] = []
    const runtime = asking(said)
    const { summary } = await play(batonpass, runtime)
    const { sessions } = await recorded(batonpass, summary)
    expect(runtime.launches.map(({ tools }) => tools?.server)).toEqual([undefined, 'baton_run', 'baton_run'])
    expect(runtime.launches.map(({ prompt }) => prompt.split(LOOK_BACK_NOTE).length - 1)).toEqual([0, 1, 1])
    expect(runtime.launches[1]?.prompt.endsWith(`\n\n${LOOK_BACK_NOTE}`)).toBe(true)
    const [, second, third] = sessions
    expect(new Set(asked.map(({ session }) => session))).toEqual(new Set([second?.id, third?.id]))
    expect(said[0]).toMatchObject({ isError: false })
    const endpoints = runtime.launches.flatMap(({ tools }) => tools ?? [])
    expect(new Set(endpoints.map(({ token }) => token)).size).toBe(2)
    expect(await Promise.all(endpoints.map(isReached))).toEqual([false, false])
  })

  it('is asked for its checkpoint without any tool', async () => {
    const { batonpass } = withAnswers()
    const runtime = asking([])
    await play(batonpass, runtime)
    expect(runtime.questions.length).toBe(2)
    for (const question of runtime.questions) expect(question).not.toHaveProperty('tools')
  })

  it('is given no more answers than a part of its window, and is told so; the next session starts anew', async () => {
    const { batonpass, asked } = withAnswers()
    const said: ToolSaid[] = []
    await play(batonpass, asking(said))
    // A window of 1,000 tokens: the least that is allowed, 4,000 characters.
    expect(asked.map(({ limit }) => limit)).toEqual([4_000, 4_000])
    const refused = said.filter(({ isError }) => isError)
    expect(refused.length).toBe(said.length - 2)
    expect(refused[0]?.text).toMatch(/^look_back.spent: .*4000 characters/)
  })

  it('keeps a continuation of its own as it is, with the sentence after it', async () => {
    for (const continuation of ['Mine: {checkpoint}', () => 'Mine.']) {
      const { batonpass } = withAnswers()
      const runtime = asking([])
      await play(batonpass, runtime, { continuation })
      expect(runtime.launches[1]?.prompt).toMatch(/^Mine/)
      expect(runtime.launches[1]?.prompt.endsWith(`\n\n${LOOK_BACK_NOTE}`)).toBe(true)
    }
  })

  it.each([
    ['it is switched off', {}, { lookBack: false }],
    ['its runtime takes no tools', { takesTools: false }, {}],
  ])('has no tool, and no word of it, when %s', async (_, scripted, request) => {
    let opened = 0
    const open = async () => {
      opened += 1
      throw new Error('not wanted')
    }
    const { batonpass } = withAnswers({ runTools: { open } })
    const runtime = asking([], scripted)
    const { summary } = await play(batonpass, runtime, request)
    expect([summary.outcome, summary.sessions, opened]).toEqual(['completed', 3, 0])
    expect(runtime.launches.some(({ tools, prompt }) => tools !== undefined || prompt.includes('look_back'))).toBe(
      false,
    )
  })

  it('works without it when it cannot be served, which is said once', async () => {
    const open = () => Promise.reject(new Error('no port is free'))
    const { batonpass } = withAnswers({ runTools: { open } })
    const runtime = asking([])
    const { summary, events } = await play(batonpass, runtime)
    expect([summary.outcome, summary.sessions]).toEqual(['completed', 3])
    expect(runtime.launches.some(({ tools, prompt }) => tools !== undefined || prompt.includes('look_back'))).toBe(
      false,
    )
    const warnings = events.flatMap((event) => (event.type === 'run:warning' ? [event] : []))
    expect(warnings).toMatchObject([{ code: 'tools.not_served', message: expect.stringContaining('no port is free') }])
  })

  it('may be the first of a run, when earlier runs worked in its conversation', async () => {
    const { batonpass } = withAnswers()
    const conversation = 'shop-1'
    const about = { conversation, sessionMode: 'fresh' } as const
    const rests = [{ turns: ENDS }]
    const [first, second] = [asking([], { windows: rests }), asking([], { windows: rests })]
    await play(batonpass, first, about)
    await play(batonpass, second, { ...about, prompt: 'Now the other test' })
    expect(first.launches[0]?.tools).toBeUndefined()
    expect(second.launches[0]?.tools?.tools).toEqual(['look_back'])
    const { prompt = '' } = second.launches[0] ?? {}
    expect(prompt.split(LOOK_BACK_NOTE).length).toBe(2)
    expect(prompt.endsWith('Now the other test')).toBe(true)
    expect(prompt).toContain(TASK)
  })

  it('is offered it in a provider session that is resumed, where nothing is said of it', async () => {
    const { batonpass } = withAnswers()
    const windows = [{ turns: [...ENDS.slice(0, 1).map((turn) => ({ ...turn, rests: true })), ...ENDS] }]
    const runtime = asking([], { windows })
    await play(batonpass, runtime, { conversation: 'shop-1' })
    await play(batonpass, runtime, { conversation: 'shop-1', prompt: 'Now the other test' })
    expect(runtime.launches.map(({ how, tools }) => [how, tools?.server])).toEqual([
      ['start', undefined],
      ['resume', 'baton_run'],
    ])
    expect(runtime.launches[1]?.prompt).toBe('Now the other test')
  })

  it('is left by a run that is broken off, and nothing listens then', async () => {
    const { batonpass } = withAnswers()
    const runtime = asking([])
    for await (const _ of batonpass.run({ runtime, agent: 'claude', prompt: TASK, policy: 'auto' }))
      if (runtime.launches.length === 2) break
    const { tools } = runtime.launches[1] ?? {}
    expect(tools && (await isReached(tools))).toBe(false)
  })
})
