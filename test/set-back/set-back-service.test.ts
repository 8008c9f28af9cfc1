import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { reportProblem } from '../../src/adapters/cli/tree/report-problem.ts'
import { systemClock } from '../../src/entry/container.ts'
import { StoreFailure } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { FaultInjector } from '../../src/entry/testing.ts'
import { ServiceStage } from '../http/stage.ts'

it('the service says that its store was set back, and takes nothing more for that session', async () => {
  const faults = new FaultInjector(new MemoryStore({ clock: systemClock }))
  await using stage = await ServiceStage.open({ store: faults.store })
  const started = await stage.hook(`p-${randomUUID()}`, 'session-start', { source: 'startup' })
  const path = `/sessions/${String(started.json.session_id)}/turns`
  const turn = (text: string) => ({ body: { turns: [{ messages: [{ role: 'assistant', text }] }] } })
  expect((await stage.ask('POST', path, turn('One.'))).status).toBe(200)
  faults.plan('acknowledged_and_lost')
  expect((await stage.ask('POST', path, turn('Two.'))).status).toBe(200)
  const { status, json } = await stage.ask('POST', path, turn('Three.'))
  expect([status, json.error?.code]).toEqual([500, 'store.set_back'])
  expect(String(json.error?.message)).toMatch(/turns 2.* turns 1/)
})

it('a command says so, with the status of something that broke', () => {
  const said: string[] = []
  const failure = new StoreFailure('store.set_back', 'The store was set back.')
  expect(reportProblem(failure, { line: (text: string) => said.push(text) } as never)).toBe(1)
  expect(said.join()).toContain('(store.set_back)')
})
