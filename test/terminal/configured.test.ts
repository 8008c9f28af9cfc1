import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Stage } from './stage.ts'

const monitorOf = async (stage: Stage) => {
  const monitor = await stage.store.monitors.find((await stage.session()).id)
  if (monitor === undefined) throw new Error('there is no monitor')
  return monitor
}

const EARLY = 'context_monitor: { warning_percentage: 30, critical_percentage: 45 }\n'

describe('a terminal session is watched as the configuration says', () => {
  it('of its project', async () => {
    await using stage = new Stage()
    writeFileSync(join(stage.workspace, 'batonpass.yaml'), EARLY)
    await stage.start()
    expect((await monitorOf(stage)).milestones).toEqual([
      { name: 'warning', at: 0.3 },
      { name: 'critical', at: 0.45 },
      { name: 'restart', at: 0.85 },
    ])
    const answer = await stage.draws(46)
    expect(stage.card().notices.join()).toContain('critical')
    expect(answer.outcome).toBe('ok')
  })

  it('of the repository that its folder is in', async () => {
    await using stage = new Stage()
    const below = join(stage.workspace, 'src', 'deep')
    mkdirSync(below, { recursive: true })
    mkdirSync(join(stage.workspace, '.git'))
    writeFileSync(join(stage.workspace, 'batonpass.yml'), EARLY)
    await stage.start('startup', { cwd: below })
    expect((await monitorOf(stage)).milestones[0]).toEqual({ name: 'warning', at: 0.3 })
  })

  it('not of a folder above it that is no repository', async () => {
    await using stage = new Stage()
    const below = join(stage.workspace, 'src')
    mkdirSync(below)
    writeFileSync(join(stage.workspace, 'batonpass.yml'), EARLY)
    await stage.start('startup', { cwd: below })
    expect((await monitorOf(stage)).milestones[0]).toEqual({ name: 'warning', at: 0.5 })
  })

  it('of the service, where its project has none', async () => {
    await using stage = new Stage()
    writeFileSync(join(stage.folder, 'config.yaml'), 'context_monitor: { warning_percentage: 20 }\n')
    await stage.start()
    expect((await monitorOf(stage)).milestones[0]).toEqual({ name: 'warning', at: 0.2 })
  })

  it('switched off, it is not warned, and a policy in the file does not make it restart', async () => {
    await using stage = new Stage()
    writeFileSync(
      join(stage.workspace, 'batonpass.json'),
      JSON.stringify({ context_monitor: { enabled: false }, restart: { policy: 'auto' }, context_limit: 100_000 }),
    )
    await stage.start()
    await stage.draws(90)
    const monitor = await monitorOf(stage)
    expect(monitor).toMatchObject({ isEnabled: false, policy: 'advise', window: { configuredLimit: 100_000 } })
    expect(stage.card().notices).toEqual([])
  })

  it('and as usual where the file cannot be used', async () => {
    await using stage = new Stage()
    writeFileSync(join(stage.workspace, 'batonpass.yaml'), 'context_monitor: { warning_percentage: 0.3 }\n')
    expect((await stage.start()).outcome).toBe('ok')
    expect((await monitorOf(stage)).milestones[0]).toEqual({ name: 'warning', at: 0.5 })
  })
})
