import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { nodeProcesses } from '../../src/main/doctor.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene, type Worked } from '../../src/testing/scene.ts'
import { endedPid } from '../embedded/planted-lock.ts'
import { database } from './spawned.ts'

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]

/** The first day of the story; its clock begins at midnight. */
export const [FIRST_DAY, SECOND_DAY, THIRD_DAY] = ['2026-01-01', '2026-01-02', '2026-01-03'] as const

/** Three days in two folders: jobs that finished, failed, wait, were paused, lost their process, and one with threads. */
export const tellThreeDays = async (store: Store): Promise<void> => {
  const scene = new Scene({ store, passTime: async () => {} })
  const { service, clock } = scene
  const begin = async (
    originalTask: string,
    folder: string,
    more: object = {},
    agent = 'claude-code',
  ): Promise<Worked> => {
    const workspace = { workingDirectory: folder }
    const { conversation } = unwrap(await service.openConversation({ originalTask, workspace, ...more }))
    return scene.work(await scene.session(agent, conversation), 'run_tests')
  }
  const cost = async ({ session, holder }: WorkingSession, costUsd: number): Promise<void> => {
    const totals = { inputTokens: 10, outputTokens: 1, costUsd }
    unwrap(await service.accountSession({ session: session.id, holder, totals }))
  }
  const over = async (working: WorkingSession): Promise<void> => {
    const { session, holder } = working
    unwrap(await service.completeSession({ session: session.id, holder }))
  }
  await over(await begin('Was over before', '/srv/repo-a'))
  const long = await begin('Write the plan\nand carry it out', '/srv/repo-a')
  await cost(long, 0.5)
  clock.advance(HOUR_MS)
  const restart = { kind: 'context_restart' as const, targetAgent: 'claude-code', reason: 'Full' }
  const { handoff } = unwrap(
    await service.initiateHandoff({ session: long.session.id, holder: long.holder, ...restart }),
  )
  const totals = { inputTokens: 9, outputTokens: 1, costUsd: 0.25 }
  const checkpoint = { outcome: 'missing', totals } as const
  const kept = unwrap(await service.keepCheckpoint({ handoff, holder: long.holder, checkpoint }))
  const second = unwrap(await service.completeHandoff({ handoff: kept.handoff }))
  clock.advance(DAY_MS)
  const failed = await begin('Mend the login', '/srv/repo-b')
  await cost(failed, 2)
  unwrap(await service.failSession({ session: failed.session.id, holder: failed.holder, reason: 'The disk is full' }))
  clock.advance(DAY_MS)
  await cost(second, 1)
  await over(second)
  clock.advance(HOUR_MS)
  const waits = await begin('Review it', '/srv/repo-b', { externalKey: 'issue-9' })
  unwrap(await service.initiateHandoff({ ...waits, targetAgent: 'opus', reason: 'Stuck' }))
  clock.advance(HOUR_MS)
  const self = nodeProcesses.self?.()
  const runner = self && { ...self, leader: { pid: endedPid(), startTime: '1' } }
  const opened = unwrap(await service.openConversation({ originalTask: 'Lost its process' }))
  await scene.session('codex', opened.conversation, { leaseMs: 600_000, ...(runner && { runner }) })
  clock.advance(HOUR_MS)
  const root = await begin('Split the work', '/srv/repo-a')
  const child = unwrap(
    await service.openThread({
      ...root,
      targetAgent: 'helper',
      reason: 'A part',
      child: { originalTask: 'Do a part' },
    }),
  )
  await over(root)
  unwrap(await service.failSession({ session: child.session.id, holder: child.holder, reason: 'It gave up' }))
  clock.advance(HOUR_MS)
  unwrap(await service.pauseSession(await begin('Ran out of money', '/srv/repo-b')))
}

/** A database with these three days in it. */
export const threeDays = async (): Promise<string> => {
  const url = await database()
  await using store = await openPostgres({ connectionString: url })
  await tellThreeDays(store)
  return url
}
