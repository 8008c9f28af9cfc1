import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Size } from './sizes.ts'

/** How many sessions report at once, and how often each does. */
const SIZES = { quick: { sessions: 200, each: 10 }, full: { sessions: 200, each: 50 } } as const

/** How a service copes with many sessions whose status lines are drawn at once. */
export interface TerminalSpeed {
  readonly sessions: number
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  /** Processor time of the service for each. */
  readonly cpuMs: number
}

/** A window that is fuller with every line, so that each is a reading to store. */
const statusLine = (line: number) => ({
  context_window: {
    context_window_size: 1_000_000,
    used_percentage: 10,
    current_usage: { input_tokens: 100_000 + line, output_tokens: 10 },
  },
})

/** Measures a service in a process of its own, on the embedded store: every session posts one line after the other. */
export const measureTerminals = async (size: Size): Promise<TerminalSpeed> => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-terminals-'))
  const path = fileURLToPath(import.meta.url).replace(/terminals\.(\w+)$/, 'terminal-service.$1')
  const service = fork(path, [folder])
  try {
    const { socket } = await new Promise<{ readonly socket: string }>((resolve, reject) => {
      service.once('message', (said) => resolve(said as { readonly socket: string }))
      service.once('exit', (code) => reject(new Error(`The service ended with ${code}`)))
    })
    const master = readFileSync(join(folder, 'service.token'), 'utf8').trim()
    return await measure({ socket, master, usedMs: () => usedBy(service) }, size)
  } finally {
    service.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The processor time of a process so far. */
const usedBy = (service: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    service.once('message', (used) => {
      const { user, system } = used as NodeJS.CpuUsage
      resolve((user + system) / 1_000)
    })
    service.send('used')
  })

interface Measured {
  readonly socket: string
  readonly master: string
  readonly usedMs: () => Promise<number>
}

const measure = async ({ socket, master, usedMs }: Measured, size: Size): Promise<TerminalSpeed> => {
  const { sessions, each } = SIZES[size]
  const agent = new Agent({ keepAlive: true, maxSockets: sessions })
  const posting = (id: string) => {
    const token = createHmac('sha256', master).update(`session:${id}`).digest('hex')
    return (event: string, payload: object) => post({ socket, agent, token }, event, { session_id: id, ...payload })
  }
  const all = Array.from({ length: sessions }, (_, index) => posting(`bench-${index}`))
  for (const ask of all) await ask('session-start', { source: 'startup', cwd: '/work' })
  // Everybody is connected and has spoken once: what is measured is a day's work, not its first second.
  await Promise.all(all.map((ask) => ask('statusline', statusLine(-1))))
  const took: number[] = []
  const before = await usedMs()
  const began = performance.now()
  await Promise.all(
    all.map(async (ask) => {
      for (let line = 0; line < each; line += 1) {
        const at = performance.now()
        await ask('statusline', statusLine(line))
        took.push(performance.now() - at)
      }
    }),
  )
  const seconds = (performance.now() - began) / 1_000
  const cpuMs = ((await usedMs()) - before) / took.length
  agent.destroy()
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    ...{ sessions, requests: sorted.length, perSecond: sorted.length / seconds },
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1), cpuMs },
  }
}

interface Client {
  readonly socket: string
  readonly agent: Agent
  readonly token: string
}

const post = ({ socket, agent, token }: Client, event: string, payload: object): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = { socketPath: socket, agent, headers, method: 'POST', path: '/hooks/events' }
    const asking = request(options, (answer) => {
      answer.resume()
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`The service answered ${answer.statusCode}`)),
      )
    })
    asking.on('error', reject)
    const at = new Date().toISOString()
    asking.end(JSON.stringify({ v: 1, commandId: randomUUID(), at, event, runtime: 'claude', payload }))
  })

/** The figures in one line, for the report. */
export const renderTerminals = ({
  sessions,
  requests,
  perSecond,
  p50Ms,
  p99Ms,
  longestMs,
  cpuMs,
}: TerminalSpeed): string =>
  `${sessions} sessions at once, ${requests} status lines: ${perSecond.toFixed(0)}/s, ` +
  `median ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, longest ${longestMs.toFixed(0)} ms, ${cpuMs.toFixed(1)} ms of processor each, Node ${process.version}`
