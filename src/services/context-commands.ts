import { sendSignal } from '../domain/decisions/send-signal.ts'
import { reportContext, watchContext } from '../domain/decisions/watch-context.ts'
import { defined } from '../domain/defined.ts'
import type { SessionFacts } from '../domain/facts.ts'
import { signalId, snapshotId } from '../domain/ids.ts'
import type { MonitorReport } from '../domain/monitor-reports.ts'
import { type CommandContext, plainReading, plainWindow, redacted, stampOf, targetOf } from './command-inputs.ts'
import type { ReportRequest, SendRequest, WatchRequest } from './requests.ts'

const watching = (context: CommandContext) => ({
  signal: () => signalId(context.ids.next()),
  snapshotId: snapshotId(context.ids.next()),
  at: context.clock.now(),
})

/** A report, and nothing the caller's object may carry beside it. */
const plainReport = (report: MonitorReport): MonitorReport => {
  const { producedAt } = report
  switch (report.type) {
    case 'sample': {
      const { reading, window } = report
      const known = {
        type: report.type,
        reading: plainReading(reading),
        window: window ? plainWindow(window) : undefined,
      }
      return defined({ ...known, producedAt })
    }
    case 'compaction': {
      const { type, trigger, preTokens, key } = report
      return defined({ type, trigger, preTokens, key, producedAt })
    }
    default:
      return defined({ type: report.type, producedAt })
  }
}

export const reportingContext = (request: ReportRequest, context: CommandContext) => {
  const target = targetOf(request)
  const around = watching(context)
  return {
    stamp: stampOf('report_context', request, context.ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    decide: (facts: SessionFacts) => reportContext(facts, target, plainReport(request.report), around),
  }
}

export const watchingContext = (request: WatchRequest, context: CommandContext) => {
  const target = targetOf(request)
  const around = watching(context)
  return {
    stamp: stampOf('watch_context', request, context.ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    decide: (facts: SessionFacts) => watchContext(facts, target, request.settings, around),
  }
}

export const sendingSignal = (asked: SendRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const target = targetOf(request)
  const id = signalId(context.ids.next())
  const at = context.clock.now()
  return {
    stamp: stampOf('send_signal', request, context.ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    decide: (facts: SessionFacts) => sendSignal(facts, target, request, { id, at }),
  }
}
