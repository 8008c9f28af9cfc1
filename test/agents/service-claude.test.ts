import { deepEqual, equal, ok } from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createBatonpass } from '../../src/entry/index.ts'
import { serve } from '../../src/main/serve.ts'
import { textOf } from './claude-runs.ts'
import { bash, uses } from './claude-stage.ts'
import { askClaude, claudeHome } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

const SMALL = uses(10, 1_000, 20_000, 60)
/** 66 % of a window of 200,000: the critical milestone. */
const CRITICAL = uses(10, 1_000, 131_000, 60)

const sessionIn = (out: string): string => {
  const [, id] = /"session_id":"([0-9a-f-]{36})"/.exec(out) ?? []
  return id ?? ''
}

/** Waits until the service has taken everything that hooks could not hand it in time. */
const spoolTaken = async (folder: string): Promise<void> => {
  const spool = join(folder, 'spool')
  const isLeft = (): boolean => existsSync(spool) && readdirSync(spool).some((name) => name.endsWith('.json'))
  while (isLeft()) await new Promise((resolve) => setTimeout(resolve, 100))
}

describe('the real claude with the real service', PATIENT, () => {
  it('is warned before its next request, recorded turn by turn, and its compaction is on record once', async (t) => {
    const turns = [
      { tool: bash('echo one'), usage: SMALL },
      { tool: bash('echo two'), usage: CRITICAL },
      { text: 'Done.', usage: CRITICAL },
      { text: 'Done again.', usage: SMALL },
    ]
    const place = await claudeHome(t, { turns, summary: { text: '<summary>One and two.</summary>', usage: SMALL } })
    const { api, folder, environment } = place
    const service = await serve({ folder, dataDir: folder, environment })
    // Before the home goes, which the stage removes.
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }

    const first = await askClaude(place, 'Say two words.')
    equal(first.code, 0, first.err)
    const asked = api.requests.filter((_, index) => api.asked[index] === 'turn').map(textOf)
    equal(asked.length, 3)
    ok(!asked.slice(0, 2).some((text) => /Your context window is/.test(text)))
    ok(
      /Your context window is 79 % full: 132k of 167k before it compacts .*call the tool handoff of the MCP server baton/.test(
        asked[2] ?? '',
      ),
      'the third request has the warning',
    )

    const provider = sessionIn(first.out)
    const resumes = ['--resume', provider]
    const second = await askClaude(place, 'And again.', { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, resumes)
    equal(second.code, 0, second.err)
    await spoolTaken(folder)

    // Read through the folder while the service has it open.
    await using batonpass = await createBatonpass({ dataDir: folder })
    const { history, context } = batonpass
    const sessions = await history.sessionsOfProvider(provider)
    const [conversationId] = sessions.map((session) => session.conversationId)
    if (conversationId === undefined) throw new Error('The session is not on record')
    equal(new Set(sessions.map((session) => session.conversationId)).size, 1)
    const messages = (await history.messages(conversationId, { limit: 100 })).items
    const said = messages.filter(({ role }) => role === 'assistant').map(({ text }) => text)
    deepEqual(
      said.filter((text) => text.startsWith('Done')),
      ['Done.', 'Done again.'],
    )
    const prompts = messages
      .filter(({ role, origin }) => role === 'user' && origin === 'person')
      .map(({ text }) => text)
    deepEqual(prompts, ['Say two words.', 'And again.'])
    const turnsKept = await Promise.all(sessions.map(({ id }) => history.turns(id, { limit: 100 })))
    const calls = turnsKept.flatMap(({ items }) => items).flatMap((turn) => turn.toolCalls)
    deepEqual(
      calls.map(({ toolName }) => toolName),
      ['Bash', 'Bash'],
    )
    const trail = (await history.auditTrail(conversationId, { limit: 1_000 })).items.map(({ event }) => event.type)
    equal(trail.filter((type) => type === 'context.compacted').length, 1)
    const snapshots = await Promise.all(sessions.map(({ id }) => history.snapshots(id, { limit: 100 })))
    equal(snapshots.flatMap(({ items }) => items).filter(({ type }) => type === 'truncation').length, 1)
    const told = await Promise.all(sessions.map(({ id }) => context.signals(id)))
    const critical = told.flatMap(({ items }) => items).filter(({ milestone }) => milestone === 'critical')
    deepEqual(
      critical.map(({ status }) => status),
      ['delivered'],
    )
  })
})
