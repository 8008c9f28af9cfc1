import { describe, expect, it } from 'vitest'
import { extractiveSummary } from '../../src/domain/summary/extractive-summary.ts'
import { summaryFrom } from '../../src/domain/summary/summary-budget.ts'
import { type MessageInput, unwrap, type WorkingSession } from '../../src/entry/index.ts'
import { summaryMaterial } from '../../src/services/thread/summary-material.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore } from '../support/stores.ts'

const aScene = async (): Promise<Scene> => new Scene(await openStore('memory'))

const say = async (
  scene: Scene,
  working: WorkingSession,
  ...messages: readonly MessageInput[]
): Promise<WorkingSession> => ({
  ...working,
  ...unwrap(await scene.service.recordTurn({ ...working, messages })),
})

const passOn = async (scene: Scene, working: WorkingSession): Promise<WorkingSession> => {
  const to = { targetAgent: scene.name('next'), reason: 'Full' }
  const { handoff } = unwrap(await scene.service.initiateHandoff({ session: working.session.id, byHand: true, ...to }))
  return unwrap(await scene.service.completeHandoff({ handoff })) as WorkingSession
}

const materialOf = async (scene: Scene, { session }: WorkingSession) => {
  const conversation = await scene.store.conversations.find(session.conversationId)
  if (conversation === undefined) throw new Error('There is no conversation')
  return summaryMaterial(scene.store, conversation, 300)
}

const tool = (id: string, toolName: string, argument: string, text = ''): MessageInput => ({
  role: 'assistant',
  text,
  toolCalls: [{ callId: id, toolName, argument }],
})
const result = (providerMessageId: string, text: string): MessageInput => ({ role: 'tool', text, providerMessageId })

describe('the material of a summary', () => {
  it('comes from all sessions, with calls, files, subagents and the words of the person', async () => {
    const scene = await aScene()
    const first = await say(
      scene,
      await scene.session(),
      { role: 'user', text: 'Never touch legacy/' },
      tool('c1', 'Read', 'src/a.ts'),
      result('c1', 'export const a = 1'),
      tool('c2', 'Edit', 'src/b.ts', 'I edit b.'),
      { role: 'user', text: 'Reminder of the runtime', origin: 'runtime' },
    )
    const second = await say(
      scene,
      await passOn(scene, first),
      tool('c3', 'Task', 'Find callers of now()'),
      result('c3', 'There are three callers. They are in src.'),
      { role: 'assistant', text: 'All done. Next, I will update the docs.' },
    )
    const material = await materialOf(scene, second)
    expect(material.task).toBe((await scene.store.conversations.find(second.session.conversationId))?.originalTask)
    expect(material.messages.map(({ text, isPerson }) => [text, isPerson])).toEqual([
      ['Never touch legacy/', true],
      ['', false],
      ['export const a = 1', false],
      ['I edit b.', false],
      ['Reminder of the runtime', false],
      ['', false],
      ['There are three callers. They are in src.', false],
      ['All done. Next, I will update the docs.', false],
    ])
    expect(material.messages[3]?.toolCalls).toEqual([{ toolName: 'Edit', argument: 'src/b.ts' }])
    expect(material.files).toEqual(['src/b.ts', 'src/a.ts'])
    expect(material.subagents).toEqual(['Find callers of now(): There are three callers.'])
    const { text } = summaryFrom(extractiveSummary(material))
    for (const part of ['"Never touch legacy/"', 'three callers', 'update the docs', '- src/b.ts'])
      expect(text).toContain(part)
  })

  it('has bounds, and keeps what the person said before them', async () => {
    const scene = await aScene()
    let working = await say(scene, await scene.session(), { role: 'user', text: 'In British English, please' })
    for (let turn = 0; turn < 150; turn += 1)
      working = await say(
        scene,
        working,
        { role: 'user', text: `${turn}`, origin: 'hook' },
        { role: 'assistant', text: 'x'.repeat(50_000) },
      )
    const material = await materialOf(scene, working)
    const characters = material.messages.reduce((sum, { text }) => sum + text.length, 0)
    expect(material.messages.length).toBeLessThanOrEqual(201)
    expect(characters).toBeLessThanOrEqual(200_100)
    expect(Math.max(...material.messages.map(({ text }) => text.length))).toBe(8_000)
    expect(material.messages[0]).toMatchObject({ text: 'In British English, please', isPerson: true })
    expect(material.messages.at(-2)?.text).toBe('149')
    expect(material.leftOut).toBe(301 - material.messages.length)
  })

  it('of a conversation without a word is its task', async () => {
    const scene = await aScene()
    const material = await materialOf(scene, await scene.session())
    expect({ ...material, task: '' }).toEqual({
      task: '',
      messages: [],
      leftOut: material.leftOut,
      subagents: [],
      files: [],
      budgetTokens: 300,
    })
    expect(summaryFrom(extractiveSummary(material)).text).toContain(`"${material.task}"`)
  })
})
