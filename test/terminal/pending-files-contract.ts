import assert from 'node:assert/strict'
import { agentSessionId, commandId, conversationId } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { Candidate, PendingFiles } from '../../src/ports/terminal/pending-files.ts'
import type { PendingDocument } from '../../src/ports/terminal/wire.ts'
import { uuid } from '../domain/samples.ts'

/** Pending files under test, and a folder that is a workspace and one that is not there. */
export interface FilesUnderTest {
  readonly files: PendingFiles
  readonly workspace: string
  readonly missing: string
}

type Case = (made: FilesUnderTest) => Promise<void>

const documentOf = (workspace: string, number = 1, over: Partial<PendingDocument> = {}): PendingDocument => ({
  v: 1,
  id: uuid(number),
  workspace,
  runtime: 'claude',
  providerSessionId: 'blue',
  sessionId: agentSessionId(uuid(20)),
  conversationId: conversationId(uuid(21)),
  agentName: 'claude-code',
  document: 'Half is done.',
  text: `Continue, ${number}.`,
  path: '/handoffs/one.md',
  writtenAt: instant('2026-01-01T00:00:00.000Z'),
  turns: 3,
  expiresAt: instant('2026-01-08T00:00:00.000Z'),
  ...over,
})

const candidateOf = (providerSessionId: string, over: Partial<Candidate> = {}): Candidate => ({
  v: 1,
  runtime: 'claude',
  providerSessionId,
  pendingId: uuid(1),
  workspace: '/job',
  prompts: [],
  hasEnded: false,
  ...over,
})

/** Everything that is stored, so that a case sees what moved and what stayed. */
const stored = async (files: PendingFiles) => ({
  pending: sorted(await files.listPending()),
  taken: [...(await files.listTaken())].sort((one, other) => one.by.localeCompare(other.by)),
  closed: sorted(await files.listClosed()),
})

const sorted = (all: readonly PendingDocument[]): readonly PendingDocument[] =>
  [...all].sort((one, other) => one.id.localeCompare(other.id))

const NOTHING = { pending: [], taken: [], closed: [] }

/** The promises of `PendingFiles`, each as a case. */
export const PENDING_FILES_CASES: Readonly<Record<string, Case>> = {
  'has nothing at first': async ({ files, workspace }) => {
    assert.equal(await files.readPending(workspace), undefined)
    assert.deepEqual(await stored(files), NOTHING)
    assert.deepEqual(await files.listCandidates(), [])
  },

  'knows the workspace of a folder that is there, and of no other': async ({ files, workspace, missing }) => {
    assert.equal(files.workspaceOf(workspace), workspace)
    assert.equal(files.workspaceOf(missing), undefined)
  },

  'gives back a document as it was written, with its reason and without': async ({ files }) => {
    const [one, other] = [documentOf('/one', 1, { reason: 'The window is full' }), documentOf('/other', 2)]
    for (const each of [one, other]) await files.writePending(each)
    assert.deepEqual(await files.readPending('/one'), one)
    assert.deepEqual(await files.readPending('/other'), other)
    assert.deepEqual((await stored(files)).pending, [one, other])
  },

  'has one document in a workspace: the one that was written last': async ({ files }) => {
    await files.writePending(documentOf('/job', 1))
    const refreshed = documentOf('/job', 1, { text: 'More is done.' })
    await files.writePending(refreshed)
    assert.deepEqual(await stored(files), { ...NOTHING, pending: [refreshed] })
    await files.writePending(documentOf('/job', 2))
    assert.deepEqual(await stored(files), { ...NOTHING, pending: [documentOf('/job', 2)] })
  },

  'gives copies: a caller that changes what it read or wrote changes nothing of the files': async ({ files }) => {
    const written = documentOf('/job')
    await files.writePending(written)
    Object.assign(written, { text: 'changed' })
    Object.assign((await files.readPending('/job')) ?? {}, { text: 'changed' })
    assert.deepEqual(await files.readPending('/job'), documentOf('/job'))
  },

  'moves a taken document to its candidate: it waits no longer': async ({ files }) => {
    const [one, other] = [documentOf('/one', 1), documentOf('/other', 2)]
    for (const each of [one, other]) await files.writePending(each)
    assert.equal(await files.takePending(one, 'green.2'), true)
    assert.equal(await files.readPending('/one'), undefined)
    assert.deepEqual(await stored(files), { pending: [other], taken: [{ pending: one, by: 'green.2' }], closed: [] })
  },

  'moves a closed document to those that are over: it waits no longer': async ({ files }) => {
    const one = documentOf('/one')
    await files.writePending(one)
    assert.equal(await files.closePending(one), true)
    assert.equal(await files.readPending('/one'), undefined)
    assert.deepEqual(await stored(files), { ...NOTHING, closed: [one] })
  },

  'moves what is stored, not what the caller has of it': async ({ files }) => {
    const refreshed = documentOf('/job', 1, { text: 'More is done.' })
    await files.writePending(refreshed)
    await files.takePending(documentOf('/job', 1), 'green')
    assert.deepEqual((await stored(files)).taken, [{ pending: refreshed, by: 'green' }])
  },

  'does not take a document that another one has replaced': async ({ files }) => {
    await files.writePending(documentOf('/job', 2))
    assert.equal(await files.takePending(documentOf('/job', 1), 'green'), false)
    assert.deepEqual(await stored(files), { ...NOTHING, pending: [documentOf('/job', 2)] })
  },

  'does not close a document that another one has replaced': async ({ files }) => {
    await files.writePending(documentOf('/job', 2))
    assert.equal(await files.closePending(documentOf('/job', 1)), false)
    assert.deepEqual(await stored(files), { ...NOTHING, pending: [documentOf('/job', 2)] })
  },

  'gives a document to one candidate: the second, and a close, come too late': async ({ files }) => {
    const one = documentOf('/job')
    await files.writePending(one)
    assert.equal(await files.takePending(one, 'green'), true)
    assert.equal(await files.takePending(one, 'red'), false)
    assert.equal(await files.closePending(one), false)
    assert.deepEqual(await stored(files), { ...NOTHING, taken: [{ pending: one, by: 'green' }] })
  },

  'takes nothing that is over': async ({ files }) => {
    const one = documentOf('/job')
    await files.writePending(one)
    await files.closePending(one)
    assert.equal(await files.takePending(one, 'green'), false)
    assert.deepEqual(await stored(files), { ...NOTHING, closed: [one] })
  },

  'forgets a taken document, of this candidate alone, and twice like once': async ({ files }) => {
    const [one, other] = [documentOf('/one', 1), documentOf('/other', 2)]
    for (const each of [one, other]) await files.writePending(each)
    await files.takePending(one, 'green')
    await files.takePending(other, 'red')
    await files.forgetTaken({ pending: one, by: 'red' })
    assert.equal((await files.listTaken()).length, 2)
    for (const _ of [1, 2]) await files.forgetTaken({ pending: one, by: 'green' })
    assert.deepEqual(await stored(files), { ...NOTHING, taken: [{ pending: other, by: 'red' }] })
  },

  'forgets a closed document, and twice like once': async ({ files }) => {
    const [one, other] = [documentOf('/one', 1), documentOf('/other', 2)]
    for (const each of [one, other]) await files.writePending(each)
    for (const each of [one, other]) await files.closePending(each)
    for (const _ of [1, 2]) await files.forgetClosed(one)
    assert.deepEqual(await stored(files), { ...NOTHING, closed: [other] })
  },

  'leaves a document that waits alone when one that was taken or is over is forgotten': async ({ files }) => {
    const [one, two] = [documentOf('/job', 1), documentOf('/job', 2)]
    await files.writePending(one)
    await files.takePending(one, 'green')
    await files.writePending(two)
    await files.forgetTaken({ pending: one, by: 'green' })
    await files.forgetClosed(one)
    assert.deepEqual(await stored(files), { ...NOTHING, pending: [two] })
  },

  'has each candidate once, as it was written last, until it is forgotten': async ({ files }) => {
    const prompts = [{ commandId: commandId(uuid(9)), prompt: 'Continue' }]
    const changed = candidateOf('green', { prompts, hasEnded: true, thread: conversationId(uuid(21)), cwd: '/job/src' })
    for (const each of [candidateOf('green'), candidateOf('red', { isFork: true }), changed])
      await files.writeCandidate(each)
    const found = [...(await files.listCandidates())].sort((one, other) =>
      one.providerSessionId.localeCompare(other.providerSessionId),
    )
    assert.deepEqual(found, [changed, candidateOf('red', { isFork: true })])
    for (const _ of [1, 2]) await files.forgetCandidate('green')
    assert.deepEqual(await files.listCandidates(), [candidateOf('red', { isFork: true })])
  },
}
