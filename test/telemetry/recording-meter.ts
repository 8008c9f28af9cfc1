import { type Attributes, type Meter, type MeterProvider, type MetricOptions, metrics } from '@opentelemetry/api'
import { onTestFinished } from 'vitest'

/** One number that an instrument got. */
export interface Recorded {
  readonly name: string
  readonly value: number
  readonly attributes: Attributes
}

/** An application that collects metrics, and what it got. */
export class RecordingMeters implements MeterProvider {
  readonly recorded: Recorded[] = []
  readonly instruments = new Map<
    string,
    MetricOptions & { readonly kind: 'counter' | 'histogram'; readonly scope: string }
  >()

  /** Set up for the rest of the test. */
  static collecting(): RecordingMeters {
    const meters = new RecordingMeters()
    metrics.setGlobalMeterProvider(meters)
    onTestFinished(() => metrics.disable())
    return meters
  }

  getMeter(scope: string): Meter {
    const instrument = (kind: 'counter' | 'histogram') => (name: string, options: MetricOptions) => {
      this.instruments.set(name, { ...options, kind, scope })
      const take = (value: number, attributes: Attributes = {}): void => {
        this.recorded.push({ name, value, attributes })
      }
      return { add: take, record: take }
    }
    return { createCounter: instrument('counter'), createHistogram: instrument('histogram') } as unknown as Meter
  }

  /** What an instrument got. */
  of(name: string): readonly Pick<Recorded, 'value' | 'attributes'>[] {
    return this.recorded.filter((each) => each.name === name).map(({ value, attributes }) => ({ value, attributes }))
  }
}
