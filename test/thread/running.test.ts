import { describe, expect, it } from 'vitest'
import { readBlock } from '../../src/domain/memory-block/memory-block.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { ScriptedWindow } from '../../src/entry/testing.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'
import { FILE, SPACE, stageWith } from './stage.ts'

type Stage = Awaited<ReturnType<typeof stageWith>>

const stateOf = (stage: Stage): string => {
  const read = readBlock(stage.files.texts.get(FILE) ?? '')
  return read.ok ? read.value.state : read.error.code
}

/** Runs a conversation, and says what was in the block when each agent was launched. */
const run = async (
  stage: Stage,
  conversation: string,
  windows: readonly ScriptedWindow[] = [{ turns: [{ text: 'Done.' }] }],
) => {
  const [seen, workspace]: [string[], object] = [[], { workingDirectory: SPACE }]
  const runtime = new ScriptedRuntime({ windows, windowTokens: 1_000, onStep: () => void seen.push(stateOf(stage)) })
  const warnings: string[] = []
  const work = stage.run({ runtime, agent: 'claude-code', prompt: 'Go on', conversation, policy: 'auto', workspace })
  work.on((event) => {
    if (event.type === 'run:warning') warnings.push(event.code)
  })
  const summary = await work.finish()
  return { summary, seen, warnings, launches: runtime.launches }
}

const accepted = async (stage: Stage, key: string) => {
  const draft = await stage.threads.preview({ conversation: stage.parent.id })
  if (!draft.ok) throw new Error(draft.error.code)
  const thread = await stage.threads.accept(draft.value, { key })
  if (!thread.ok) throw new Error(thread.error.code)
  return thread.value
}

describe('running a thread', () => {
  it('launches its first session with the block, resets it at rest, and leaks nothing into the third', async () => {
    const stage = await stageWith()
    const { session, conversation } = await accepted(stage, 'two')
    const second = await run(stage, 'two')
    expect(second.summary).toMatchObject({
      outcome: 'completed',
      conversationId: conversation.id,
      lastSessionId: session.id,
    })
    expect(second.launches).toHaveLength(1)
    expect(second.launches[0]?.prompt).toMatch(/The task there:\n\nMend the till\n\nGo on$/)
    expect(new Set(second.seen)).toEqual(new Set(['held']))
    expect(stateOf(stage)).toBe('free')
    expect((await stage.history.conversation(conversation.id))?.metadata).toMatchObject({ handoff_pending: false })
    const kept = await stage.history.session(session.id)
    expect(kept).toMatchObject({ state: 'completed', epoch: 1 })
    const third = await run(stage, 'three')
    expect(new Set(third.seen)).toEqual(new Set(['free']))
  })

  it('keeps the block for a further try when the first exchange failed', async () => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    const failed = await run(stage, 'two', [{ turns: [], end: { type: 'failed', message: 'gone' } }])
    expect(failed.summary.outcome).toBe('failed')
    expect(stateOf(stage)).toBe('held')
    await run(stage, 'two')
    expect(stateOf(stage)).toBe('free')
  })

  it('resets the block before the next window of the same thread', async () => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    const windows = [
      { turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }], checkpoint: '## Completed work\n- Half' },
      { turns: [{ text: 'All.', promptTokens: 100 }] },
    ]
    const { seen, summary } = await run(stage, 'two', windows)
    expect(summary.restarts).toBe(1)
    expect(seen.at(0)).toBe('held')
    expect(seen.at(-1)).toBe('free')
  })

  it('is told of a summary that waits for another thread, and starts', async () => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    const other = await run(stage, 'three')
    expect(other.summary.outcome).toBe('completed')
    expect(other.warnings).toContain('thread.block_waits')
    expect(stateOf(stage)).toBe('held')
  })

  it('does not start while a summary that is over cannot be taken out', async () => {
    const stage = await stageWith()
    const { conversation } = await accepted(stage, 'two')
    stage.files.most = stage.files.writes
    const second = await run(stage, 'two')
    expect(second.summary.outcome).toBe('completed')
    expect(second.warnings).toContain('thread.block_not_reset')
    expect(stateOf(stage)).toBe('held')
    expect((await stage.history.conversation(conversation.id))?.metadata).toMatchObject({ handoff_pending: false })
    await expect(run(stage, 'three')).rejects.toMatchObject({ code: 'thread.block_not_reset' })
    expect(stage.logged.some(({ level, message }) => level === 'warn' && message.includes('still in its file'))).toBe(
      true,
    )
    stage.files.most = Number.POSITIVE_INFINITY
    const third = await run(stage, 'three')
    expect(new Set(third.seen)).toEqual(new Set(['free']))
  })

  it('does not start while a summary of ours stands between broken markers', async () => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    stage.files.texts.set(FILE, `${stage.files.texts.get(FILE)}\n<current_thread_summary>\n`)
    await expect(run(stage, 'three')).rejects.toMatchObject({ code: 'thread.block_not_reset' })
  })

  it('resets a block whose time is over before it launches', async () => {
    const stage = await stageWith()
    const { conversation } = await accepted(stage, 'two')
    stage.clock.advance(86_400_000)
    const third = await run(stage, 'three')
    expect(new Set(third.seen)).toEqual(new Set(['free']))
    expect((await stage.history.conversation(conversation.id))?.metadata).toMatchObject({ handoff_pending: false })
  })

  it('offers a thread to the person at the milestone that was chosen', async () => {
    for (const [offerAt, count] of [
      ['warning', 1],
      ['critical', 0],
    ] as const) {
      const stage = await stageWith({ offerAt })
      const { warnings } = await run(stage, 'two', [{ turns: [{ text: 'Half.', promptTokens: 550 }] }])
      expect(warnings.filter((code) => code === 'thread.offered')).toHaveLength(count)
    }
  })

  it.each([
    ['a line was typed before the summary', (text: string) => text.replace('<!-- batonpass', 'Mine.\n<!-- batonpass')],
    ['both markers were deleted', (text: string) => text.replaceAll(/<\/?current_thread_summary>/g, '')],
    ['one marker was deleted', (text: string) => text.replace('</current_thread_summary>', '')],
  ])('starts no other thread while the summary cannot be taken out, because %s', async (_, spoil) => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    stage.files.texts.set(FILE, spoil(stage.files.texts.get(FILE) ?? ''))
    await expect(run(stage, 'three')).rejects.toMatchObject({ code: 'thread.block_not_reset' })
    expect(await stage.threads.status(SPACE)).toMatchObject([{ path: FILE, state: 'broken' }])
  })

  it('starts no other thread while the file with the summary cannot be read as a text', async () => {
    const stage = await stageWith()
    await accepted(stage, 'two')
    stage.files.unreadable.add(FILE)
    await expect(run(stage, 'three')).rejects.toMatchObject({ code: 'thread.block_not_reset' })
    stage.files.texts.set(FILE, 'Nothing of ours.')
    expect((await run(stage, 'three')).summary.outcome).toBe('completed')
  })

  it('looks after a file that somebody named, also when it could not be reset the first time', async () => {
    const stage = await stageWith()
    const draft = await stage.threads.preview({ conversation: stage.parent.id, file: 'NOTES.md' })
    if (!draft.ok) throw new Error(draft.error.code)
    const thread = await stage.threads.accept(draft.value, { key: 'two' })
    if (!thread.ok) throw new Error(thread.error.code)
    expect(await stage.threads.status(SPACE)).toMatchObject([{ path: `${SPACE}/NOTES.md`, state: 'held' }])
    stage.files.failing = 'the disk is read-only'
    expect((await run(stage, 'two')).warnings).toContain('thread.block_not_reset')
    await expect(run(stage, 'three')).rejects.toMatchObject({ code: 'thread.block_not_reset' })
    stage.files.failing = undefined
    expect((await run(stage, 'three')).summary.outcome).toBe('completed')
    expect(stage.files.texts.get(`${SPACE}/NOTES.md`)).toContain('None recorded yet.')
    expect(await stage.threads.status(SPACE)).toEqual([])
  })

  it('keeps the marks that the caller put on the thread meanwhile', async () => {
    const stage = await stageWith()
    const { conversation } = await accepted(stage, 'two')
    const marked = { ...conversation.metadata, ticket: '42' }
    unwrap(await stage.handoffs.setConversationMetadata({ conversation: conversation.id, metadata: marked }))
    await stage.threads.cleanup({ thread: conversation })
    const kept = (await stage.history.conversation(conversation.id))?.metadata
    expect(kept).toMatchObject({ ticket: '42', handoff_pending: false })
  })
})

describe('a summary whose thread was opened in another store', () => {
  /** The thread "two" waits in a file; the second stage sees the file, and has a store of its own. */
  const twoStores = async () => {
    const stage = await stageWith()
    const other = await stageWith({}, undefined, undefined, stage.files)
    await run(other, 'worked')
    await accepted(stage, 'two')
    return { stage, other }
  }

  it('stays in its file, and a run that means its thread is refused before anything is stored', async () => {
    const { stage, other } = await twoStores()
    const text = stage.files.texts.get(FILE)
    await expect(run(other, 'two')).rejects.toMatchObject({
      refusal: { code: 'thread.other_store', file: FILE, threadKey: 'two' },
    })
    expect(stage.files.texts.get(FILE)).toBe(text)
    expect(await other.history.conversationByKey('two')).toBeUndefined()
    const { summary, seen } = await run(stage, 'two')
    expect(summary.outcome).toBe('completed')
    expect(seen[0]).toBe('held')
    expect(stateOf(stage)).toBe('free')
  })

  it('stays when that store has a conversation of the same key, which is over or waits for its own', async () => {
    const { stage, other } = await twoStores()
    unwrap(await other.handoffs.openConversation({ originalTask: 'Something else', externalKey: 'two' }))
    const text = stage.files.texts.get(FILE)
    const { summary, warnings } = await run(other, 'three')
    expect(summary.outcome).toBe('completed')
    expect(warnings).toContain('thread.block_waits')
    await other.threads.cleanup({ workspace: SPACE })
    expect(stage.files.texts.get(FILE)).toBe(text)
    expect(await other.threads.status(SPACE)).toMatchObject([
      { state: 'held', threadKey: 'two', isPending: true, isOfOtherStore: true },
    ])
    expect(await stage.threads.status(SPACE)).toMatchObject([{ isPending: true, isOfOtherStore: false }])
  })

  it('is not ended by a thread of the same key', async () => {
    const { stage, other } = await twoStores()
    const draft = await other.threads.preview({ conversation: other.parent.id, file: 'NOTES.md' })
    if (!draft.ok) throw new Error(draft.error.code)
    const thread = await other.threads.accept(draft.value, { key: 'two' })
    if (!thread.ok) throw new Error(thread.error.code)
    const { conversation } = thread.value
    const metadata = { ...conversation.metadata, handoff_memory_file: 'CLAUDE.md' }
    await other.threads.cleanup({ thread: { ...conversation, metadata } })
    expect(stateOf(stage)).toBe('held')
  })

  it('is taken out when somebody says so, and when its time is over', async () => {
    const { stage, other } = await twoStores()
    const again = stage.files.texts.get(FILE) ?? ''
    await other.threads.cleanup({ workspace: SPACE, force: true })
    expect(stateOf(stage)).toBe('free')
    stage.files.texts.set(FILE, again)
    other.clock.advance(86_400_000)
    expect((await run(other, 'two')).summary.outcome).toBe('completed')
    expect(stateOf(stage)).toBe('free')
  })
})
