import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Stage } from './stage.ts'

const BY_HAND = { byHand: true, by_hand: true }

it('no tool takes byHand, and none passes it on', async () => {
  const stage = await Stage.open({ clues: { environment: { CLAUDE_CODE_SESSION_ID: 'p-1' } } })
  const working = await stage.session('p-1')
  const messages = [{ role: 'assistant' as const, text: 'Half.' }]
  const { session } = unwrap(await stage.batonpass.handoffs.recordTurn({ ...working, messages }))
  const { tools } = await stage.client.listTools()
  expect(tools.length).toBeGreaterThan(3)
  for (const { name, inputSchema } of tools) {
    expect(Object.keys(inputSchema.properties ?? {}).filter((key) => /hand$/i.test(key))).toEqual([])
    await stage.call(name, { document: 'Half.', query: 'Half', ...BY_HAND })
  }
  expect(stage.sent.map(({ handoff }) => handoff)).toEqual([{ document: 'Half.', command_id: expect.any(String) }])
  const trail = await stage.batonpass.history.auditTrail(session.conversationId, { limit: 1_000 })
  expect(trail.items.filter(({ event }) => event.byHand === true)).toEqual([])
})

/** Where our own code decides for a session from outside. Each says in a comment why. */
const SAY_IT = ['src/services/run/open/open-run.ts', 'src/services/thread/accept-thread.ts']

it('our own code acts by hand where a person decides, and nowhere an agent can ask', () => {
  const files = ['services', 'adapters'].flatMap((layer) =>
    readdirSync(join('src', layer), { recursive: true, encoding: 'utf8' }).map((path) => join('src', layer, path)),
  )
  const sources = files.filter((path) => path.endsWith('.ts'))
  expect(sources.length).toBeGreaterThan(400)
  const says = (path: string): boolean =>
    /\bbyHand: true as const,|\bbyHand: true[ ,]}?/.test(readFileSync(path, 'utf8'))
  const outside = sources.filter((path) => !/services\/(requests|command-runner|commands\/)/.test(path))
  expect(outside.filter(says).sort()).toEqual(SAY_IT)
})
