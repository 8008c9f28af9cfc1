import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type HookCall, NodeHookRunner } from '../../src/entry/hooks.ts'
import { inProcess, threshold } from './samples.ts'

const runner = new NodeHookRunner()

describe('a function', () => {
  it.each([
    ['a text', 'continue', 'continue'],
    ['an object', { decision: 'abort' }, '{"decision":"abort"}'],
    ['nothing', undefined, ''],
    ['a promise', Promise.resolve('later'), 'later'],
  ])('may return %s', async (_, returned, output) => {
    expect(
      await runner.run(
        inProcess(() => returned),
        threshold,
      ),
    ).toMatchObject({ ok: true, output })
  })

  it('is told the payload, as a copy of its own', async () => {
    const before = structuredClone(threshold)
    let told: unknown
    await runner.run(
      inProcess((payload) => {
        told = structuredClone(payload)
        ;(payload as { original_prompt: string }).original_prompt = 'changed'
      }),
      threshold,
    )
    expect(told).toStrictEqual(before)
    expect(threshold).toStrictEqual(before)
  })

  it('fails when it throws, at once or later, or returns what no JSON can hold', async () => {
    const wrong = new Error('The disk is full')
    const thrown = { ok: false, error: { code: 'hook.threw', message: 'The disk is full' } }
    const throwing = (): never => {
      throw wrong
    }
    expect(await runner.run(inProcess(throwing), threshold)).toMatchObject(thrown)
    expect(
      await runner.run(
        inProcess(() => Promise.reject(wrong)),
        threshold,
      ),
    ).toMatchObject(thrown)
    expect(
      await runner.run(
        inProcess(() => Promise.reject('text')),
        threshold,
      ),
    ).toMatchObject({ ok: false })
    expect(
      await runner.run(
        inProcess(() => 1n),
        threshold,
      ),
    ).toMatchObject({ ok: false, error: { code: 'hook.threw' } })
  })

  it('is given up when its time is up, and its signal says so', async () => {
    let call: HookCall | undefined
    const endless = inProcess(
      (_, given) => {
        call = given
        return new Promise(() => {})
      },
      { timeoutMs: 50 },
    )
    const result = await runner.run(endless, threshold)
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.timeout' } })
    expect(call?.signal.aborted).toBe(true)
  })

  it('may fail after it was given up without harm', async () => {
    const late = inProcess(
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => setTimeout(reject, 5, new Error('late'))),
        ),
      { timeoutMs: 20 },
    )
    expect(await runner.run(late, threshold)).toMatchObject({ ok: false, error: { code: 'hook.timeout' } })
    await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('is not called when nobody wants it any more, and is told when that happens', async () => {
    let calls = 0
    const counting = inProcess(() => {
      calls += 1
    })
    const result = await runner.run(counting, threshold, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.cancelled' } })
    expect(calls).toBe(0)
    const controller = new AbortController()
    const running = runner.run(
      inProcess(() => new Promise(() => {})),
      threshold,
      { signal: controller.signal },
    )
    controller.abort()
    expect(await running).toMatchObject({ ok: false, error: { code: 'hook.cancelled' } })
  })

  it('has its output kept within bounds', async () => {
    const { output } = await runner.run(
      inProcess(() => 'x'.repeat(1_000_000)),
      threshold,
    )
    expect(output.length).toBeLessThan(70_000)
  })

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController()
    await runner.run(
      inProcess(() => getEventListeners(signal, 'abort').length),
      threshold,
      { signal },
    )
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
