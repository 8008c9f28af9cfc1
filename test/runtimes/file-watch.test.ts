import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FileWatch } from '../../src/adapters/codex/runtime/file-watch.ts'
import { temporaryHome } from '../support/fake-codex.ts'

/** Longer than any test. */
const NEVER_MS = 2_000_000_000

const file = (): string => {
  const path = join(temporaryHome(), 'rollout.jsonl')
  writeFileSync(path, '')
  return path
}

describe('a watch of a file', () => {
  it('gives a sign when the system tells of a change, without a poll', async () => {
    const path = file()
    const watch = new FileWatch(NEVER_MS)
    watch.follow(path)
    const sign = watch.sign()
    appendFileSync(path, 'one')
    await sign
    watch.close()
  })

  it('keeps a sign for a caller that asks later', async () => {
    const path = file()
    const watch = new FileWatch(NEVER_MS)
    watch.follow(path)
    appendFileSync(path, 'one')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await watch.sign()
    watch.close()
  })

  it('looks every so often where the system cannot watch', async () => {
    const watch = new FileWatch(1)
    watch.follow(join(temporaryHome(), 'none.jsonl'))
    await watch.sign()
    await watch.sign()
    watch.close()
  })

  it('ends for a waiting caller when it is closed, leaves no timer and begins no more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const watch = new FileWatch(NEVER_MS)
    const sign = watch.sign()
    expect(vi.getTimerCount()).toBe(1)
    watch.close()
    await sign
    expect(vi.getTimerCount()).toBe(0)
    watch.follow(file())
    await watch.sign()
    expect(vi.getTimerCount()).toBe(0)
    expect(watch.isClosed).toBe(true)
  })
})
