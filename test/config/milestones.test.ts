import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/entry/index.ts'
import { linesIn } from './checking.ts'

const inForce = async (object: object): Promise<string> => {
  const { settings } = await readConfiguration(object)
  return settings
    .filter(({ key }) => key.startsWith('milestones.'))
    .map(({ key, value, from }) => `${key.slice('milestones.'.length)} ${value ?? 'off'} (${from})`)
    .join('; ')
}

describe('milestones', () => {
  it.each<readonly [object, string]>([
    [{}, 'warning 0.5 (default); critical 0.65 (default); restart 0.85 (default)'],
    [
      { milestones: { warning: 0.3, restart: 1 } },
      'warning 0.3 (milestones.warning); critical 0.65 (default); restart 1 (milestones.restart)',
    ],
    [
      { milestones: { critical: null } },
      'warning 0.5 (default); critical off (milestones.critical); restart 0.85 (default)',
    ],
    [
      { milestones: [0.1, 0.2, 0.3, 0.4] },
      'warning 0.1 (milestones[0]); critical 0.2 (milestones[1]); milestone 3 0.3 (milestones[2]); restart 0.4 (milestones[3])',
    ],
    [{ milestones: [0.7] }, 'warning 0.7 (milestones[0]); critical off (milestones); restart off (milestones)'],
    [
      { session: { context_threshold: 0.1 } },
      'warning 0.5 (default); critical 0.65 (default); restart 0.9 (session.context_threshold)',
    ],
    [
      { session: { context_threshold: 0 } },
      'warning 0.5 (default); critical 0.65 (default); restart 1 (session.context_threshold)',
    ],
    [
      { context_monitor: { warning_percentage: 40, critical_percentage: 57 } },
      'warning 0.4 (context_monitor.warning_percentage); critical 0.57 (context_monitor.critical_percentage); restart 0.85 (default)',
    ],
    [
      { milestones: [0.5, 0.65], session: { context_threshold: 0.1 } },
      'warning 0.5 (milestones[0]); critical 0.65 (milestones[1]); restart 0.9 (session.context_threshold)',
    ],
  ])('of %j', async (object, expected) => {
    expect(await inForce(object)).toBe(expected)
  })

  it.each([0.1, 0.2, 0.3, 0.35])('may be said twice if both say the same: %s remaining', async (remaining) => {
    const restart = Number((1 - remaining).toFixed(2))
    const object = { milestones: { restart, critical: 0.6 }, session: { context_threshold: remaining } }
    expect(await inForce(object)).toContain(`restart ${restart} (milestones.restart, session.context_threshold)`)
  })

  it.each<readonly [object, string]>([
    [
      { milestones: { restart: 0.8 }, session: { context_threshold: 0.1 } },
      'session.context_threshold | it puts the restart milestone at 0.9, and milestones.restart puts it at 0.8 | Keep milestones.restart or session.context_threshold, not both.',
    ],
    [
      { milestones: { restart: null }, session: { context_threshold: 0.1 } },
      'session.context_threshold | it puts the restart milestone at 0.9, and milestones.restart puts it off | Keep milestones.restart or session.context_threshold, not both.',
    ],
    [
      { milestones: [0.4, 0.65, 0.85], context_monitor: { warning_percentage: 45 } },
      'context_monitor.warning_percentage | it puts the warning milestone at 0.45, and milestones[0] puts it at 0.4 | Keep milestones[0] or context_monitor.warning_percentage, not both.',
    ],
    [
      { milestones: { critical: 0.7 }, context_monitor: { critical_percentage: 65 } },
      'context_monitor.critical_percentage | it puts the critical milestone at 0.65, and milestones.critical puts it at 0.7 | Keep milestones.critical or context_monitor.critical_percentage, not both.',
    ],
  ])('that contradict each other are refused by both names: %j', async (object, expected) => {
    expect(await linesIn(object)).toEqual([expected])
  })

  it('that contradict each other are found beside other problems', async () => {
    const object = { milestones: { restart: 0.8, warning: 50 }, session: { context_threshold: 0.1 }, extra: 1 }
    expect((await linesIn(object)).map((line) => line.split(' | ')[0])).toEqual([
      'milestones.warning',
      'extra',
      'session.context_threshold',
    ])
  })

  it('are switched off by their own key only, so an empty alias is one problem and not two', async () => {
    const object = { milestones: { restart: 0.8 }, session: { context_threshold: null } }
    expect((await linesIn(object)).map((line) => line.split(' | ')[1])).toEqual([
      'nothing is not a fraction from 0 up to, but not, 1',
    ])
  })

  const HIGHER = 'Make each milestone higher than the one before it, or switch one off with null.'

  it.each<readonly [object, string]>([
    [
      { milestones: { warning: 0.7, critical: 0.7 } },
      `milestones.critical | critical (0.7) does not come after warning (0.7) | ${HIGHER}`,
    ],
    [
      { milestones: { critical: 0.9 } },
      `milestones.critical | restart (0.85, the default) does not come after critical (0.9) | ${HIGHER}`,
    ],
    [
      { context_monitor: { warning_percentage: 66 } },
      `context_monitor.warning_percentage | critical (0.65, the default) does not come after warning (0.66) | ${HIGHER}`,
    ],
    [{ milestones: [0.5, 0.4] }, `milestones[1] | critical (0.4) does not come after warning (0.5) | ${HIGHER}`],
    [
      { milestones: { warning: null, critical: null, restart: null } },
      'milestones | every milestone is switched off | Keep at least one, or write context_monitor.enabled: false.',
    ],
  ])('out of order are refused: %j', async (object, expected) => {
    expect(await linesIn(object)).toEqual([expected])
  })

  it('are not said to be out of order when one of them cannot be read', async () => {
    expect((await linesIn({ milestones: { warning: 0.9, restart: 95 } })).map((line) => line.split(' | ')[0])).toEqual([
      'milestones.restart',
    ])
  })

  it('that nobody wrote give way to an earlier restart, and it is said', async () => {
    const early = { session: { context_threshold: 0.4 } }
    expect(await inForce(early)).toBe(
      'warning 0.5 (default); critical off (default); restart 0.6 (session.context_threshold)',
    )
    const { remarks, configuration } = await readConfiguration(early)
    expect(remarks).toEqual([
      'The critical milestone is off: its default, 0.65, does not come before a later one you set.',
    ])
    expect(configuration.monitor.milestones.map(({ name }) => name)).toEqual(['warning', 'restart'])
  })
})
