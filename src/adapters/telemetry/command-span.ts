import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { CommandEnd } from '../../ports/system/command-telemetry.ts'
import { ofCommand, ofCommandEnd, ofFailure, SCOPE } from './attributes.ts'

/**
 * Carries a command out inside a span, which is a child of the caller's. A refusal is an outcome, not an error; a failure is
 * one. Spans of a database driver become children of it.
 */
export const inCommandSpan = async <T>(
  name: string,
  work: () => Promise<T>,
  endOf: (done: T) => CommandEnd,
): Promise<T> => {
  const span = startSpan(name)
  if (span === undefined) return work()
  try {
    const done = await context.with(trace.setSpan(context.active(), span), work)
    span.setAttributes(ofCommandEnd(endOf(done)))
    return done
  } catch (error) {
    span.setAttributes(ofFailure(error))
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

/** Absent when nobody watches. */
const startSpan = (name: string): Span | undefined => {
  const options = { kind: SpanKind.INTERNAL, attributes: ofCommand(name) }
  const span = trace.getTracer(SCOPE).startSpan(`batonpass.${name}`, options)
  return span.isRecording() ? span : undefined
}
