import { type Attributes, type Counter, type Histogram, type MeterProvider, metrics } from '@opentelemetry/api'
import type { Measurement } from '../../ports/system/command-telemetry.ts'
import type { SpannedSession } from '../../ports/system/run-telemetry.ts'
import { ofAgent, ofClaim, ofMeasuredHandoff, ofRestart, ofSessionTime, ofTokens, SCOPE } from './attributes.ts'

/** As the conventions advise for tokens: powers of four. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power)
/** From a second to a day: a handoff may wait for a worker, and a session may work for hours. */
const LONG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400]
/** Tenths, and finer where milestones are. */
const RATIO_BUCKETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1]

interface Instruments {
  readonly turns: Counter
  readonly restarts: Counter
  readonly handoffs: Counter
  readonly timeToClaim: Histogram
  readonly windowLevel: Histogram
  readonly tokenUsage: Histogram
  readonly agentDuration: Histogram
}

const instrumentsOf = (provider: MeterProvider): Instruments => {
  const meter = provider.getMeter(SCOPE)
  const histogram = (name: string, unit: string, description: string, buckets: number[]): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: buckets } })
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description })
  return {
    turns: counter('batonpass.turns', '{turn}', 'Turns that were recorded.'),
    restarts: counter('batonpass.restarts', '{restart}', 'Restarts that ended, and those that the budget refused.'),
    handoffs: counter('batonpass.handoffs', '{handoff}', 'Handoffs that were initiated, and that ended.'),
    timeToClaim: histogram(
      'batonpass.handoff.time_to_claim',
      's',
      'Time from the initiation of a handoff to its first claim.',
      LONG_BUCKETS,
    ),
    windowLevel: histogram(
      'batonpass.window.level',
      '1',
      'How full a window is after a turn, as a share of its usable size.',
      RATIO_BUCKETS,
    ),
    tokenUsage: histogram(
      'gen_ai.client.token.usage',
      '{token}',
      'Number of input and output tokens used.',
      TOKEN_BUCKETS,
    ),
    agentDuration: histogram(
      'gen_ai.invoke_agent.duration',
      's',
      'Time from the launch of a session to its end.',
      LONG_BUCKETS,
    ),
  }
}

let current: { readonly provider: MeterProvider; readonly instruments: Instruments } | undefined

/** Those of the provider that is set up now: one that comes later replaces the one that does nothing. */
const instruments = (): Instruments => {
  const provider = metrics.getMeterProvider()
  if (current?.provider !== provider) current = { provider, instruments: instrumentsOf(provider) }
  return current.instruments
}

/** Counts and measures. */
export const measure = (measurement: Measurement): void => {
  const to = instruments()
  switch (measurement.type) {
    case 'turn':
      measureTurn(to, measurement)
      break
    case 'window':
      to.windowLevel.record(measurement.ratio, ofAgent(measurement.agent))
      break
    case 'handoff':
      to.handoffs.add(1, ofMeasuredHandoff(measurement))
      break
    case 'claim':
      to.timeToClaim.record(measurement.waitedMs / 1_000, ofClaim(measurement))
      break
    case 'restart':
      to.restarts.add(1, ofRestart(measurement))
      break
    default:
      measurement satisfies never
  }
}

const measureTurn = (to: Instruments, { agent, tokens }: Extract<Measurement, { readonly type: 'turn' }>): void => {
  to.turns.add(1, ofAgent(agent))
  if (tokens === undefined) return
  to.tokenUsage.record(tokens.input, ofTokens(agent, 'input'))
  to.tokenUsage.record(tokens.output, ofTokens(agent, 'output'))
}

/** Measures a session that has ended. */
export const measureSession = (session: SpannedSession, milliseconds: number, end: Attributes): void =>
  instruments().agentDuration.record(milliseconds / 1_000, { ...ofSessionTime(session), ...end })
