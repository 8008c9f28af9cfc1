import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { CountingIds, FixedClock } from '../../src/entry/testing.ts'
import { terminalsOn } from '../../src/main/terminals.ts'
import type { HookEventName, HookInput } from '../../src/services/terminal/hook-event.ts'

describe('a terminal whose window reaches the milestone for threads', () => {
  it('offers a thread to its person, once, with the command to type', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'offer-')))
    const [clock, ids] = [new FixedClock(), new CountingIds()]
    const environment = { HOME: folder, BATONPASS_OFFER_THREADS_AT: 'warning' }
    const { terminals, close } = await terminalsOn({
      store: new MemoryStore({ clock }),
      folder,
      clock,
      ids,
      environment,
    })
    const hook = (event: HookEventName, input: Partial<HookInput> = {}) =>
      terminals.take({
        commandId: commandId(ids.next()),
        event,
        runtime: 'claude',
        input: { providerSessionId: 'blue', cwd: folder, raw: {}, ...input },
      })
    await hook('session-start', { source: 'startup' })
    const context_window = { context_window_size: 200_000, used_percentage: 45, current_usage: null }
    await hook('statusline', { raw: { context_window } })
    const { notice, signals } = await hook('user-prompt-submit', { prompt: 'What is next?' })
    expect(notice).toMatch(/reached the warning milestone.*baton thread handoff --from [0-9a-f-]{36}$/)
    await hook('ack', { signals: signals.map(({ id }) => id) })
    expect((await hook('user-prompt-submit', { prompt: 'And then?' })).notice).toBeUndefined()
    await close()
  })
})
