import { randomUUID } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hookOutput } from '../../src/adapters/hook-client/hook-output.ts'
import { statusLine } from '../../src/adapters/hook-client/status-line.ts'
import { ROUTES } from '../../src/adapters/http/routes.ts'
import { ServiceStage, windowAt } from '../http/stage.ts'
import { expectHarmlessLines, expectSetApart, NASTY, textsIn } from './nasty.ts'

const id = `p-${randomUUID()}`
const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'others-')))
const messages = [
  { role: 'user', text: 'Go on' },
  { role: 'assistant', text: NASTY, tool_calls: [{ call_id: NASTY, tool_name: NASTY }] },
]

let stage: ServiceStage
beforeAll(async () => {
  stage = await ServiceStage.open()
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  rmSync(workspace, { recursive: true, force: true, maxRetries: 10 })
})

/** What is asked of each route, in an order in which all of them have something to show. */
const ASKED: Readonly<Record<Exclude<keyof typeof ROUTES, 'followEvents'>, object | undefined>> = {
  health: undefined,
  prove: undefined,
  openapi: undefined,
  registerSession: { provider_session_id: id, runtime: 'claude', cwd: workspace, model: NASTY },
  recordTurns: { turns: [{ messages }] },
  watchSession: { milestones: [0.1, 0.2, 0.9] },
  takeUsage: { session_id: id, ...windowAt(40) },
  listSignals: undefined,
  acknowledgeSignals: { signals: [] },
  requestHandoff: { document: NASTY, reason: NASTY },
  takeEvent: {
    v: 1,
    commandId: randomUUID(),
    event: 'session-start',
    runtime: 'claude',
    payload: { session_id: id, source: 'compact', cwd: workspace, model: NASTY },
  },
  showSession: undefined,
  listSessions: undefined,
  withdrawDocument: undefined,
  unwatchSession: undefined,
}

/** Routes that are asked with something behind their path. */
const QUERIES: Readonly<Record<string, string>> = { prove: `?nonce=${'a'.repeat(64)}` }

/** Fields that a person or an agent is shown as they are. All others are data, for programs. */
const SHOWN = /^(?:inject|text|message|detail|notice|title)$/

const shownIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    SHOWN.test(key) && typeof each === 'string' ? [each] : shownIn(each),
  )
}

describe('the service', () => {
  it('answers every route in JSON with exact values, and sets apart what is to be shown', async () => {
    expect([...Object.keys(ASKED), 'followEvents'].sort()).toEqual(Object.keys(ROUTES).sort())
    const texts: string[] = []
    for (const [name, body] of Object.entries(ASKED)) {
      const { method, path } = ROUTES[name as keyof typeof ASKED]
      const { status, json, text } = await stage.ask(
        method.toUpperCase(),
        `${path.replace('{id}', id)}${QUERIES[name] ?? ''}`,
        {
          ...(body && { body }),
        },
      )
      expect([name, status, text.slice(0, 200)]).toEqual([
        name,
        expect.toSatisfy((s: number) => s < 300),
        expect.anything(),
      ])
      texts.push(...textsIn(json))
      for (const shown of shownIn(json)) expectSetApart(shown)
    }
    const other = `p-${randomUUID()}`
    await stage.ask('POST', '/sessions', { body: { provider_session_id: other, runtime: 'claude', cwd: workspace } })
    await stage.ask('POST', `/sessions/${other}/turns`, { body: { turns: [{ messages }] } })
    const body = { document: NASTY, reason: NASTY, target_agent: NASTY }
    await stage.ask('POST', `/sessions/${other}/handoff`, { body })
    expect(textsIn((await stage.ask('GET', `/sessions/${other}`)).json)).toContain(NASTY)
    expect(texts.some((text) => text.includes('FORGED') && text !== NASTY)).toBe(true)
  })

  it('says what was wrong with a request on one line, and repeats nothing of it that cannot be seen', async () => {
    for (const { method, path } of Object.values(ROUTES)) {
      const nasty = { [NASTY]: NASTY, event: NASTY, runtime: NASTY, turns: NASTY, document: 1, milestones: NASTY }
      const asked = path.replace('{id}', encodeURIComponent('FORGED\r\nnobody'))
      if (path === ROUTES.followEvents.path) continue
      const { json } = await stage.ask(method.toUpperCase(), asked, method === 'get' ? {} : { body: nasty })
      for (const shown of shownIn(json)) {
        expect(shown).not.toContain('\n')
        expectHarmlessLines(shown)
      }
    }
  })
})

describe('what a hook prints', () => {
  const answer = { signals: [{ id: 's', for: 'person', text: 'x' }], inject: 'y', notice: 'z' } as never
  it.each(['session-start', 'user-prompt-submit', 'post-tool-use', 'stop'] as const)(
    'is one document in JSON: %s',
    (event) => {
      const { text } = hookOutput(event, { session_id: id } as never, answer)
      expect(() => JSON.parse(text)).not.toThrow()
    },
  )

  it('is one harmless status line', () => {
    const card = { notices: [NASTY], milestones: [], restarts: 0 } as never
    const level = { state: 'known', ratio: 0.5 } as const
    const read = { reading: { state: 'percentage', usedPercent: 50 } } as const
    const line = statusLine({ level, read, costUsd: 1, card }, { width: 400, isColoured: false, hasBlocks: false })
    expect(line).toContain('FORGED')
    expect(line).not.toContain('\n')
    expectHarmlessLines(line)
  })
})
