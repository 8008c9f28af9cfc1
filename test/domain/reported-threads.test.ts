import { describe, expect, it } from 'vitest'
import { handoffId } from '../../src/domain/kernel/ids.ts'
import { refusedReports, reportsIn } from '../../src/domain/recording/reported-threads.ts'
import { HANDOFF } from './samples.ts'

const OTHER = handoffId('0190a0a0-0000-7000-8000-0000000000bb')
const THREADS = [
  { handoffId: HANDOFF, isReported: false },
  { handoffId: OTHER, isReported: true },
]

describe('reports of threads', () => {
  it('are those of the messages, in order', () => {
    const said = { role: 'user', text: 'Done' } as const
    expect(reportsIn([said, { ...said, reports: OTHER }, { ...said, reports: HANDOFF }])).toEqual([OTHER, HANDOFF])
  })

  it('are taken once, of threads that are known', () => {
    expect(refusedReports([], [])).toBeUndefined()
    expect(refusedReports([HANDOFF], THREADS)).toBeUndefined()
    const again = { code: 'thread.reported', handoffId: HANDOFF }
    expect(refusedReports([HANDOFF, HANDOFF], THREADS)).toEqual(again)
    expect(refusedReports([HANDOFF], [])).toEqual({ code: 'handoff.not_found', handoffId: HANDOFF })
    expect(refusedReports([OTHER, HANDOFF, HANDOFF], THREADS)).toEqual({
      code: 'several',
      reasons: [{ code: 'thread.reported', handoffId: OTHER }, again],
    })
  })
})
