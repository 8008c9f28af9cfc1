import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { everyPage } from '../../src/ports/store/page.ts'
import { Stage } from './stage.ts'

const textsOf = async (stage: Stage): Promise<readonly string[]> => {
  const { conversationId } = await stage.session()
  const texts: string[] = []
  for await (const { role, text } of everyPage((page) => stage.store.messages.listMessages(conversationId, page)))
    texts.push(`${role}: ${text}`)
  return texts
}

const worked = (stage: Stage): void => {
  stage.transcript.prompts('Fix it')
  stage.transcript.answers('I look.', 20_000, 'Bash')
  stage.transcript.answers('Done.', 21_000)
}

const EXPECTED = ['user: Fix it', 'assistant: I look.', 'tool: done', 'assistant: Done.']

describe('the transcript of a terminal session', () => {
  it('is recorded as turns when the agent stops, with the calls of its tools', async () => {
    await using stage = new Stage()
    await stage.start()
    worked(stage)
    await stage.hook('stop')
    expect(await textsOf(stage)).toEqual(EXPECTED)
    const { id } = await stage.session()
    const { items } = await stage.store.messages.listTurns(id, {})
    expect(items.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([['Bash'], []])
    expect(items.map(({ usage }) => usage.state)).toEqual(['metered', 'metered'])
  })

  it('is recorded once, however often and by whichever service it is read', async () => {
    await using stage = new Stage()
    await stage.start()
    worked(stage)
    for (const _ of [1, 2, 3]) {
      await stage.hook('stop')
      await stage.restart()
    }
    stage.transcript.prompts('And the docs')
    stage.transcript.answers('Written.', 22_000)
    await stage.hook('post-tool-use')
    await stage.hook('stop')
    await stage.hook('session-end', { reason: 'other' })
    expect(await textsOf(stage)).toEqual([...EXPECTED, 'user: And the docs', 'assistant: Written.'])
  })

  it('is taken up where a killed service left it, before it could note how far it was', async () => {
    await using stage = new Stage()
    await stage.start()
    const { readFileSync } = await import('node:fs')
    const kept = join(stage.folder, 'kept', `${stage.id}.json`)
    const before = readFileSync(kept)
    worked(stage)
    await stage.hook('stop')
    await stage.restart()
    writeFileSync(kept, before)
    stage.transcript.prompts('More')
    stage.transcript.answers('More done.', 23_000)
    await stage.hook('stop')
    expect(await textsOf(stage)).toEqual([...EXPECTED, 'user: More', 'assistant: More done.'])
  })

  it('gives the reading where no status line is drawn', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('I look.', 140_000, 'Bash')
    const { signals } = await stage.hook('post-tool-use')
    expect(signals).toMatchObject([{ milestone: 'critical' }])
  })

  it('gives the reading of an answer whose turn is still open, and records that turn once', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.asks('I look.', 140_000, 'Bash')
    const { signals } = await stage.hook('post-tool-use')
    expect(signals).toMatchObject([{ milestone: 'critical' }])
    await stage.hook('ack', { signals: signals.map(({ id }) => id) })
    await stage.hook('stop')
    expect((await stage.hook('post-tool-use')).signals).toEqual([])
    expect((await stage.sessions()).map(({ progress }) => progress.turns)).toEqual([1])
  })

  it('is waited for when it is a moment behind the hook of its tool, as long as the hook lets it', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    const [toolCalls, call] = [['toolu_late'], 'toolu_late']
    const early = await stage.hook('post-tool-use', { toolCalls }, { waitMs: 40 })
    expect(early.signals).toEqual([])
    const waiting = stage.hook('post-tool-use', { toolCalls }, { waitMs: 600_000 })
    setTimeout(() => stage.transcript.asks('I look.', 140_000, 'Bash', call), 100)
    expect((await waiting).signals).toMatchObject([{ milestone: 'critical' }])
  })

  it('is waited for when it is a moment behind the end of the work, and its last turn is whole', async () => {
    await using stage = new Stage()
    await stage.start()
    stage.transcript.prompts('Fix it')
    stage.transcript.answers('I look.', 20_000, 'Bash')
    const waiting = stage.hook('stop', {}, { waitMs: 600_000 })
    setTimeout(() => stage.transcript.answers('Done.', 21_000), 100)
    await waiting
    expect((await textsOf(stage)).at(-1)).toBe('assistant: Done.')
    expect((await stage.sessions()).map(({ progress }) => progress.turns)).toEqual([2])
    // An agent that was interrupted gives no answer: then it is waited for as long as the hook lets it, and no longer.
    stage.transcript.prompts('More')
    expect((await stage.hook('stop', {}, { waitMs: 40 })).outcome).toBe('ok')
  })

  it('continues in the next session of its conversation', async () => {
    await using stage = new Stage()
    await stage.start()
    worked(stage)
    await stage.hook('session-end', { reason: 'other' })
    await stage.start('resume')
    stage.transcript.prompts('More')
    stage.transcript.answers('More done.', 23_000)
    await stage.hook('stop')
    const sessions = await stage.sessions()
    expect(sessions.map(({ progress }) => progress.turns)).toEqual([2, 1])
  })

  it.each([
    ['outside of the runtime’s folder', (stage: Stage) => moved(stage, join(stage.home, 'elsewhere.jsonl'))],
    ['with another ending', (stage: Stage) => moved(stage, stage.transcript.path.replace('.jsonl', '.json'))],
    ['that is a link out of the folder', linkedOut],
    ['through a folder that is a link', linkedFolder],
    ['that is a folder', folderThere],
    ['with .. in it', (stage: Stage) => `${join(stage.home, '.claude', 'projects')}/../../elsewhere.jsonl`],
    ['that is relative', () => 'transcript.jsonl'],
    ['with a zero in it', (stage: Stage) => `${stage.transcript.path}\0.jsonl`],
    ['that is not there', (stage: Stage) => join(stage.home, '.claude', 'projects', 'none.jsonl')],
  ] as const)('is not read from a path %s', async (_, pathIn) => {
    await using stage = new Stage()
    await stage.start()
    worked(stage)
    const transcriptPath = pathIn(stage)
    expect((await stage.hook('stop', { transcriptPath })).outcome).toBe('ok')
    expect((await stage.session()).progress.turns).toBe(0)
  })

  it('is read through a second name inside the folder', async () => {
    await using stage = new Stage()
    await stage.start()
    worked(stage)
    const second = stage.transcript.path.replace('.jsonl', '-2.jsonl')
    linkSync(stage.transcript.path, second)
    await stage.hook('stop', { transcriptPath: second })
    expect((await stage.session()).progress.turns).toBe(2)
  })
})

function moved(stage: Stage, to: string): string {
  renameSync(stage.transcript.path, to)
  return to
}

function linkedOut(stage: Stage): string {
  const outside = moved(stage, join(stage.home, 'outside.jsonl'))
  symlinkSync(outside, stage.transcript.path)
  return stage.transcript.path
}

function linkedFolder(stage: Stage): string {
  const outside = join(stage.home, 'outside')
  mkdirSync(outside)
  moved(stage, join(outside, 'session.jsonl'))
  symlinkSync(outside, join(stage.home, '.claude', 'projects', 'linked'))
  return join(stage.home, '.claude', 'projects', 'linked', 'session.jsonl')
}

function folderThere(stage: Stage): string {
  const path = stage.transcript.path.replace('.jsonl', '-folder.jsonl')
  mkdirSync(path)
  return path
}
