import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pendingFiles } from '../../src/adapters/terminal/pending-files.ts'
import { type RunningService, readRunning, writeRunning } from '../../src/adapters/terminal/service-files.ts'
import { sessionFiles } from '../../src/adapters/terminal/session-files.ts'
import { agentSessionId, commandId, conversationId, holderToken } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { Candidate } from '../../src/ports/terminal/pending-files.ts'
import type { KeptSession } from '../../src/ports/terminal/terminal-files.ts'
import type { PendingDocument, SessionCard } from '../../src/ports/terminal/wire.ts'

const ID = '019a8f00-0000-7000-8000-000000000001'

/** Every property, of every object inside: an example that leaves one out does not compile. */
type Whole<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? readonly [Whole<Item>, ...Whole<Item>[]]
    : { readonly [K in keyof T]-?: Whole<Exclude<T[K], undefined>> }

const KEPT: Whole<KeptSession> = {
  v: 1,
  runtime: 'claude',
  sessionId: agentSessionId(ID),
  holder: holderToken(ID),
  transcriptPath: '/transcript.jsonl',
  turns: 3,
  boundaries: 1,
  compaction: { number: 1, toldBy: ['pre-compact'] },
  events: ['event-1'],
  costUsd: 0.5,
  restarts: 2,
  notify: 'self',
  lastHandoffPath: '/handoff.md',
  cwd: '/job',
  pending: { id: ID, workspace: '/job' },
  hasEnded: true,
  isNoted: true,
  hasSummary: true,
  variables: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' },
  notice: 'A document waits.',
  prompts: [{ by: 'event-1', mark: 'digest', beginning: 7 }],
}

const PENDING = (workspace: string): Whole<PendingDocument> => ({
  v: 1,
  id: ID,
  workspace,
  runtime: 'codex',
  providerSessionId: 'abc',
  sessionId: agentSessionId(ID),
  conversationId: conversationId(ID),
  agentName: 'codex',
  document: 'Next: the parser.',
  reason: 'The window is full',
  text: 'Continue with the parser.',
  path: '/handoff.md',
  writtenAt: instant('2026-01-01T00:00:00.000Z'),
  turns: 3,
  expiresAt: instant('2026-01-02T00:00:00.000Z'),
})

const CANDIDATE: Whole<Candidate> = {
  v: 1,
  runtime: 'claude',
  providerSessionId: 'def',
  pendingId: ID,
  branchOf: conversationId(ID),
  isFork: true,
  thread: conversationId(ID),
  workspace: '/job',
  cwd: '/job/src',
  model: 'opus',
  transcriptPath: '/transcript.jsonl',
  prompts: [{ commandId: commandId(ID), prompt: 'Continue' }],
  hasEnded: true,
}

const RUNNING: Whole<RunningService> = {
  v: 2,
  pid: 1,
  bootId: 'boot',
  startTime: '7',
  socket: 'service.sock',
  address: { host: '127.0.0.1', port: 1 },
  startedAt: '2026-01-01T00:00:00.000Z',
  program: 'baton',
}

const CARD: SessionCard = {
  v: 1,
  sessionId: ID,
  conversationId: ID,
  providerSessionId: 'abc.keep',
  milestones: [],
  level: { state: 'unknown' },
  window: {},
  variables: {},
  restarts: 0,
  costUsd: null,
  notices: [],
  afterCompaction: null,
  lastHandoffPath: null,
  updatedAt: instant('2026-01-01T00:00:00.000Z'),
}

const AGENTS = ['claude', 'codex']

const folder = () => mkdtempSync(join(tmpdir(), 'files-'))

describe('every fact of a private file survives a read', () => {
  it('of a kept session', async () => {
    const files = await sessionFiles(folder(), AGENTS)
    await files.writeKept('abc', KEPT)
    expect(await files.readKept('abc')).toStrictEqual(KEPT)
  })

  it('of a kept session with no more than it needs', async () => {
    const files = await sessionFiles(folder(), AGENTS)
    const { v, runtime, sessionId, turns, boundaries, compaction, events } = KEPT
    const least: KeptSession = { v, runtime, sessionId, turns, boundaries, compaction, events }
    await files.writeKept('abc', least)
    expect(await files.readKept('abc')).toStrictEqual(least)
  })

  it('of a pending document', async () => {
    const files = await pendingFiles(folder(), AGENTS)
    await files.writePending(PENDING('/job'))
    expect(await files.readPending('/job')).toStrictEqual(PENDING('/job'))
  })

  it('of a candidate', async () => {
    const files = await pendingFiles(folder(), AGENTS)
    await files.writeCandidate(CANDIDATE)
    expect(await files.listCandidates()).toStrictEqual([CANDIDATE])
  })

  it('of a running service', async () => {
    const place = folder()
    await writeRunning(place, RUNNING)
    expect(await readRunning(place)).toStrictEqual(RUNNING)
  })
})

it('two sessions never share a file, whatever they are called', async () => {
  const files = await sessionFiles(folder(), AGENTS)
  await files.writeKept('abc', KEPT)
  await files.writeCard('abc.keep', CARD)
  await files.writeKept('abc.keep', { ...KEPT, turns: 9 })
  expect(await files.readKept('abc')).toStrictEqual(KEPT)
  expect((await files.readKept('abc.keep'))?.turns).toBe(9)
})
