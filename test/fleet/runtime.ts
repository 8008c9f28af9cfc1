import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { functionRuntime } from '../../src/adapters/runtime/function-runtime.ts'
import type { AgentRuntime, Launch, TransferAsked } from '../../src/ports/agent/agent-runtime.ts'
import { type Job, jobIn } from './job.ts'
import { type StepLedger, textOf } from './step.ts'

/** Where an agent works, and under which name its process is known. */
export interface Workplace {
  readonly ledger: StepLedger
  readonly by: string
  /** Where sessions are remembered, as agents remember theirs: whoever resumes one finds it there. */
  readonly folder: string
}

interface Said {
  readonly id: string
  readonly text: string
  readonly asksTransfer?: TransferAsked
}

const STEPS = 2
let steps = 0

/** A cheap agent: it carries out some steps, writes each down, and hands its work on if the task says so. */
export const fleetRuntime = (agent: string, { ledger, by, folder }: Workplace): AgentRuntime<Said> => {
  const fileOf = (session: string): string => join(folder, `${session}.session`)
  const work = async function* (job: Job, signal: AbortSignal): AsyncGenerator<Said> {
    const next = job.chain[job.chain.indexOf(agent) + 1]
    for (let number = 1; number <= STEPS; number += 1) {
      await pause(10 + Math.random() * 120, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      steps += 1
      const step = { id: `${by}-${steps}`, by, job: job.number, agent, at: Date.now() }
      ledger.write(step)
      const handsOn = number === STEPS && next !== undefined
      const asksTransfer = handsOn && { asksTransfer: { to: next, reason: 'My part is done.', document: 'See above.' } }
      yield { id: step.id, text: textOf(step), ...asksTransfer }
    }
  }
  const start = ({ prompt, providerSessionId = '', signal }: Launch): AsyncGenerator<Said> => {
    const job = jobIn(prompt)
    if (job === undefined) throw new Error(`No job in the prompt of ${agent}: ${prompt}`)
    writeFileSync(fileOf(providerSessionId), JSON.stringify(job))
    return work(job, signal)
  }
  return functionRuntime<Said>({
    backend: 'fleet',
    takesSessionId: true,
    start,
    resume: ({ providerSessionId, signal }) =>
      work(JSON.parse(readFileSync(fileOf(providerSessionId), 'utf8')) as Job, signal),
    has: async ({ providerSessionId }) => existsSync(fileOf(providerSessionId)),
    read: ({ id, text, asksTransfer }) => ({
      events: [{ type: 'request', key: id, promptTokens: 100, outputTokens: 10 }],
      texts: [{ role: 'assistant', text }],
      ...(asksTransfer !== undefined && { asksTransfer }),
    }),
  })
}
