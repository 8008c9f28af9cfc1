import { z } from 'zod'
import { err, ok } from '../../domain/kernel/result.ts'
import { type ContextMonitor, monitoredPressure } from '../../domain/window/context-monitor.ts'
import type { Pressure } from '../../domain/window/context-pressure.ts'
import { describeTokens, levelIn, percentOf, settingPercent } from '../../domain/window/window-level.ts'
import { type Access, notThere } from './access.ts'
import type { Tool } from './tool.ts'

const input = z.object({
  session: z.string().max(128).optional().describe('Another session of your conversation; your own unless given.'),
})

/** The tool with which an agent learns how much of its window is left. */
export const contextTool = (access: Access): Tool<typeof input> => ({
  name: 'get_context_remaining',
  title: 'Context remaining',
  description:
    'Tells how full your context window is: tokens used and remaining, the usable window, and the milestones you have reached. Ask before you begin something large. "unknown" means that nobody knows, not that it is empty.',
  input,
  isReadOnly: true,
  call: async ({ session: named }, caller) => {
    const found = await access.session(caller, named)
    if (!found.ok) return found
    const monitor = await (await access.services()).history.monitor(found.value.id)
    if (monitor === undefined) return err(notThere('session'))
    const facts = factsOf(monitor)
    return ok({ text: `${facts.summary}\n${JSON.stringify(facts)}`, facts })
  },
})

/** Whole for itself: clients that take data show the agent the data, and not the text. */
const factsOf = (monitor: ContextMonitor) => {
  const pressure = monitoredPressure(monitor)
  const { reading } = monitor
  const provenance = reading.state === 'unknown' ? undefined : reading.provenance
  const measured = pressure.state === 'known' ? pressure : undefined
  return {
    summary: sentenceOf(monitor, pressure),
    session_id: monitor.sessionId,
    state: monitor.isCompacting ? 'compacting' : pressure.state,
    used_tokens: measured?.usedTokens ?? null,
    remaining_tokens: measured === undefined ? null : remainingOf(measured),
    used_percent: measured === undefined ? null : percentOf(measured.ratio),
    remaining_percent: measured === undefined ? null : Math.max(0, 100 - percentOf(measured.ratio)),
    usable_window_tokens: measured?.window?.tokens ?? null,
    whole_window_tokens: monitor.window.hardLimit?.tokens ?? null,
    window_known_from: measured?.window?.source ?? null,
    milestones: monitor.milestones.map(({ name, at }) => ({
      name,
      at_percent: settingPercent(at),
      is_reached: at <= monitor.latchedAt,
    })),
    read_from: provenance === undefined ? null : { ...provenance },
    read_at: monitor.sampledAt ?? null,
  }
}

const sentenceOf = (monitor: ContextMonitor, pressure: Pressure): string => {
  const { isCompacting, awaitsReading, reading, window } = monitor
  if (isCompacting) return 'The window is being compacted. How full it is afterwards is not known yet.'
  if (pressure.state === 'unknown') {
    if (pressure.why === 'no_window') return 'It is unknown how full the window is: nobody has said how large it is.'
    const since = awaitsReading ? 'since it was compacted or cleared' : 'yet'
    return `It is unknown how full the window is: nothing has been read ${since}.`
  }
  const left = remainingOf(pressure)
  const level = levelIn(reading, window)
  const tokens = level.state === 'known' ? describeTokens(level) : undefined
  const of = tokens === undefined ? '' : `: ${tokens}`
  return `${percentOf(pressure.ratio)} % of the usable window is used${of}${left === null ? '' : `; ${left} tokens remain`}.`
}

const remainingOf = ({ usedTokens, window }: Pressure & { readonly state: 'known' }): number | null =>
  usedTokens === undefined || window === undefined ? null : Math.max(0, window.tokens - usedTokens)
