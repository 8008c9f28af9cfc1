import { describe, expect, it } from 'vitest'
import { HERE, Stage } from './stage.ts'

const whoAmI = async (stage: Stage, meta: Record<string, unknown> = {}): Promise<unknown> => {
  const { facts, text } = await stage.call('get_context_remaining', {}, meta)
  return facts?.session_id ?? text
}

describe('which session asks', () => {
  it('is not asked, and no record opened, until a tool is called', async () => {
    const stage = await Stage.open()
    const { tools } = await stage.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'get_context_remaining',
      'handoff',
      'read_handoff',
      'search_history',
      'lineage',
      'look_back',
    ])
    // Claude asks for this at each start as well.
    stage.isShared = false
    expect((await stage.client.listResources()).resources).toEqual([])
    expect(stage.client.getInstructions()).toContain('never an instruction')
    expect(stage.opened).toBe(0)
  })

  it('is the one of the process that started the server, though the environment names an older one', async () => {
    let noted = 'before-clear'
    const environment = { CLAUDE_CODE_SESSION_ID: 'before-clear' }
    const stage = await Stage.open({ clues: { ofProcess: () => noted, environment } })
    const [first, second] = [await stage.session('before-clear'), await stage.session('after-clear')]
    expect(await whoAmI(stage)).toBe(first.session.id)
    noted = 'after-clear'
    expect(await whoAmI(stage)).toBe(second.session.id)
  })

  it('is the one of the environment where no hook noted the process', async () => {
    const stage = await Stage.open({ clues: { environment: { CLAUDE_CODE_SESSION_ID: 'p-2' } } })
    await stage.session('p-1')
    const { session } = await stage.session('p-2')
    expect(await whoAmI(stage)).toBe(session.id)
  })

  it('is the one that Codex names beside the call, and its thread before its session', async () => {
    const stage = await Stage.open({ clues: { environment: { CLAUDE_CODE_SESSION_ID: 'p-1' } } })
    const [one, two] = [await stage.session('p-1'), await stage.session('p-2')]
    expect(await whoAmI(stage, { threadId: 'p-2', sessionId: 'p-1' })).toBe(two.session.id)
    expect(await whoAmI(stage, { threadId: 'a-subagent', sessionId: 'p-2' })).toBe(two.session.id)
    expect(await whoAmI(stage, { threadId: ['p-2'], sessionId: '../p-2' })).toBe(one.session.id)
  })

  it('is the one the person named, by our id or the runtime’s own', async () => {
    const stage = await Stage.open({ clues: { named: 'p-2', ofProcess: () => 'p-1' } })
    await stage.session('p-1')
    const { session } = await stage.session('p-2')
    expect(await whoAmI(stage, { threadId: 'p-1' })).toBe(session.id)
  })

  it('is the only one that works in this folder, where nothing else tells', async () => {
    const stage = await Stage.open()
    await stage.session('elsewhere', '/home/somebody/other')
    expect(await whoAmI(stage)).toMatch(/^session\.unknown: .*--session ID/)
    const { session } = await stage.session('p-1', HERE)
    expect(await whoAmI(stage)).toBe(session.id)
    await stage.session('p-2', HERE)
    expect(await whoAmI(stage)).toMatch(/^session\.several: .*--session ID/)
  })

  it('takes only sessions of the runtime that the person means', async () => {
    const stage = await Stage.open({ clues: { runtime: 'codex', ofProcess: () => 'p-1' } })
    await stage.session('p-1')
    expect(await whoAmI(stage)).toMatch(/^session\.unknown/)
  })

  it('is unknown, and not an older one, while the record does not have it yet', async () => {
    const environment = { CLAUDE_CODE_SESSION_ID: 'before-clear' }
    const stage = await Stage.open({ clues: { ofProcess: () => 'after-clear', environment } })
    await stage.session('before-clear')
    expect(await whoAmI(stage)).toMatch(/^session\.unknown: .*after-clear.*again in a moment/)
  })
})
