import type { SessionFacts } from '../../domain/facts.ts'
import { oneOf, optional } from '../../domain/input/check.ts'
import { monitorReport, monitorSettings } from '../../domain/input/readings.ts'
import { text } from '../../domain/input/words.ts'
import { signalId, snapshotId } from '../../domain/kernel/ids.ts'
import { SIGNAL_DELIVERIES } from '../../domain/session/context-signal.ts'
import { sendSignal as decideSignal } from '../../domain/session/session-signals.ts'
import * as watching from '../../domain/session/watch-context.ts'
import { command, content } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { onWindow, targetOf } from './references.ts'
import type { ReportRequest, SendRequest, WatchRequest } from './requests.ts'

const around = ({ ids, clock }: CommandContext) => ({
  signal: () => signalId(ids.next()),
  snapshotId: snapshotId(ids.next()),
  at: clock.now(),
})

export const report = command<ReportRequest>()({
  name: 'report_context',
  fields: { ...onWindow, report: content(monitorReport) },
  plan: (request, context) => {
    const target = targetOf(request)
    const beside = around(context)
    return {
      question: { about: 'session' as const, sessionId: target.sessionId },
      decide: (facts: SessionFacts) => watching.reportContext(facts, target, request.report, beside),
    }
  },
})

export const watch = command<WatchRequest>()({
  name: 'watch_context',
  fields: { ...onWindow, settings: content(monitorSettings) },
  plan: (request, context) => {
    const target = targetOf(request)
    const beside = around(context)
    return {
      question: { about: 'session' as const, sessionId: target.sessionId },
      decide: (facts: SessionFacts) => watching.watchContext(facts, target, request.settings, beside),
    }
  },
})

export const send = command<SendRequest>()({
  name: 'send_signal',
  fields: { ...onWindow, text: content(text), delivery: content(optional(oneOf(...SIGNAL_DELIVERIES))) },
  plan: (request, { ids, clock }) => {
    const target = targetOf(request)
    const beside = { id: signalId(ids.next()), at: clock.now() }
    return {
      question: { about: 'session' as const, sessionId: target.sessionId },
      decide: (facts: SessionFacts) => decideSignal(facts, target, request, beside),
    }
  },
})
