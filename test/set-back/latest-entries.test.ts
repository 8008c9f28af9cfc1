import { describe, expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { answeredBy } from '../../src/services/commands/answered.ts'
import { LatestEntries } from '../../src/services/commands/latest-entries.ts'
import { Scene } from '../../src/testing/scene.ts'

describe('the latest entries', () => {
  it('are kept, and never more than twice as many', () => {
    const latest = new LatestEntries<number, number>(100)
    for (let n = 0; n < 1_050; n += 1) {
      latest.set(n, n)
      latest.set(7, 7)
      expect(latest.size).toBeLessThanOrEqual(200)
    }
    for (let n = 1_050 - 99; n < 1_050; n += 1) expect(latest.get(n)).toBe(n)
    expect(latest.get(7)).toBe(7)
    expect(latest.get(8)).toBeUndefined()
  })

  it('are all that a process remembers, however many conversations it opens', async () => {
    const store = new MemoryStore({ clock: new FixedClock() })
    const scene = new Scene({ store, passTime: async () => {} })
    const { conversation } = unwrap(await scene.service.openConversation({ originalTask: 'The first' }))
    const answered = answeredBy(store)
    expect(answered.knows(conversation.id)).toBe(true)
    for (let n = 0; n < 25_000; n += 1)
      answered.note({ conversation: { ...conversation, id: `another-${n}` as typeof conversation.id } })
    expect(answered.knows(conversation.id)).toBe(false)
    expect(answered.knows('another-24999' as typeof conversation.id)).toBe(true)
  })
})
