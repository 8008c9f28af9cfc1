import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NotOwn, readOwnFile } from '../../src/adapters/files/own-files.ts'
import { readCard } from '../../src/adapters/hook-client/hook-card.ts'
import { keepHandoff, newHandoffId, spool } from '../../src/adapters/hook-client/spooled-posts.ts'
import { listPending, readPending } from '../../src/adapters/hook-client/waiting-document.ts'
import { checked } from '../../src/adapters/http/read-body.ts'
import { hookEventsOf } from '../../src/adapters/http/request-bodies.ts'
import { keptHandoff } from '../../src/adapters/http/schemas.ts'
import { pendingFiles } from '../../src/adapters/terminal/pending-files.ts'
import { sessionFiles } from '../../src/adapters/terminal/session-files.ts'
import { agentSessionId, conversationId } from '../../src/domain/kernel/ids.ts'
import { instant, later } from '../../src/domain/kernel/instant.ts'
import type { HookPost, PendingDocument, SessionCard, Unread } from '../../src/ports/terminal/wire.ts'

const ID = '019a8f00-0000-7000-8000-000000000001'
const NOW = instant(Date.now())
const MOST_BYTES = 64 * 1024

const CARD: SessionCard = {
  v: 1,
  sessionId: ID,
  conversationId: ID,
  providerSessionId: 'abc',
  milestones: [{ name: 'warning', at: 0.5 }],
  level: { state: 'compacting' },
  window: { hardLimit: { tokens: 200_000, source: 'runtime' }, autoCompactAt: 150_000 },
  variables: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' },
  restarts: 2,
  costUsd: 0.5,
  notices: ['The context window is being compacted.'],
  afterCompaction: { text: 'You were at the parser.', notice: 'It got its task back.' },
  lastHandoffPath: '/handoff.md',
  updatedAt: NOW,
}

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'wire-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a file that the service writes', () => {
  it('says everything of a card to a hook', async () => {
    const files = await sessionFiles(folder, ['claude', 'codex'])
    await files.writeCard('abc', CARD)
    expect(readCard(folder, 'abc')).toEqual({
      milestones: [0.5],
      isCompacting: true,
      window: CARD.window,
      variables: CARD.variables,
      restarts: 2,
      costUsd: 0.5,
      notices: CARD.notices,
      afterCompaction: CARD.afterCompaction,
    })
  })

  it('gives a hook the document that waits', async () => {
    const workspace = join(folder, 'job')
    mkdirSync(workspace)
    const document: PendingDocument = {
      ...{ v: 1, id: ID, workspace, runtime: 'codex', providerSessionId: 'abc', agentName: 'codex', turns: 3 },
      ...{ sessionId: agentSessionId(ID), conversationId: conversationId(ID) },
      ...{ document: 'Next: the parser.', text: 'Continue with the parser.', path: '/handoff.md' },
      ...{ writtenAt: NOW, expiresAt: later(NOW, 60_000) },
    }
    await (await pendingFiles(folder, ['claude', 'codex'])).writePending(document)
    expect(readPending(folder, workspace)).toEqual(document)
    expect(listPending(folder)).toEqual([document])
  })

  it('is read by the names that it is written with: another one does not compile', () => {
    const card: Unread<SessionCard> = { costUsd: '?' }
    // @ts-expect-error there is no such part of a card
    expect(card.cost).toBeUndefined()
  })
})

describe('a file that a hook writes', () => {
  const post: HookPost = {
    ...{ v: 1, commandId: ID, at: NOW, event: 'session-start', runtime: 'claude', waitMs: 5 },
    payload: {
      ...{ session_id: 'abc', transcript_path: '/t.jsonl', cwd: '/job', source: 'startup', model: 'opus' },
      ...{ within: 'def', variables: { A: 'b' }, signals: [ID], hidden_secrets: 2, parent_session_id: ID },
    },
  }

  it('is an event to the service, with all its facts', () => {
    const file = spool(folder, post)
    expect(hookEventsOf(['claude', 'codex'])(JSON.parse(readOwnFile(file, MOST_BYTES) ?? ''))).toEqual({
      ...{ commandId: ID, at: NOW, event: 'session-start', runtime: 'claude', waitMs: 5 },
      input: {
        ...{ providerSessionId: 'abc', transcriptPath: '/t.jsonl', cwd: '/job', source: 'startup', model: 'opus' },
        ...{ within: 'def', variables: { A: 'b' }, signals: [ID], hiddenByHook: 2, parentSessionId: ID },
        raw: post.payload,
      },
    })
  })

  it('is a handoff to the service, without its secrets', () => {
    const id = newHandoffId()
    const handoff = { session: 'abc', working_in: '/job', document: 'the key', reason: 'a key', target_agent: 'codex' }
    const path = keepHandoff(folder, id, handoff, (text) => text.replace('key', '***'))
    expect(readOwnFile(path, MOST_BYTES)).toBe('the ***')
    const json: unknown = JSON.parse(readOwnFile(`${folder}/spool/${id}.json`, MOST_BYTES) ?? '')
    expect(checked(keptHandoff, json)).toMatchObject({
      commandId: id,
      handoff: { ...handoff, document: 'the ***', reason: 'a ***' },
    })
  })

  it('is not written into a folder that others may write to', () => {
    mkdirSync(join(folder, 'spool'))
    chmodSync(join(folder, 'spool'), 0o777)
    expect(() => spool(folder, post)).toThrow(NotOwn)
    expect(readdirSync(join(folder, 'spool'))).toEqual([])
  })
})
