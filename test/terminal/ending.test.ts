import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type StatusFrame, statusDocument, workStateOf } from '../../src/adapters/cli/render/status-facts.ts'
import { renderStatus } from '../../src/adapters/cli/render/status-lines.ts'
import { agentOf, noteProcess } from '../../src/adapters/hook-client/agent-process.ts'
import { listPending } from '../../src/adapters/hook-client/waiting-document.ts'
import { readWorkStatus } from '../../src/services/history/work-status.ts'
import { AgentTerminal } from './continuing.ts'
import { waiting } from './handing.ts'
import { Stage } from './stage.ts'

const HERE = String(process.pid)

/** The note that a hook has made of the process of an agent. */
const noteFile = (stage: Stage): string => join(stage.folder, 'agents', `${process.pid}.json`)

const changeNote = (stage: Stage, change: object): void => {
  const note = JSON.parse(readFileSync(noteFile(stage), 'utf8')) as object
  writeFileSync(noteFile(stage), JSON.stringify({ ...note, ...change }))
}

/** A terminal whose agent is this process, and that was told a rule. */
const noted = async (stage: Stage): Promise<AgentTerminal> => {
  const blue = new AgentTerminal(stage, 'claude')
  noteProcess(stage.folder, blue.id, HERE)
  await blue.start()
  await blue.says('Never touch the migrations')
  return blue
}

const endGone = async (stage: Stage): Promise<void> => (await stage.open()).terminals.endGone()

const lines = (frame: StatusFrame): string =>
  renderStatus(frame, Date.now())
    .map((spans) => spans.map(({ text }) => text).join(''))
    .join('\n')

describe('a terminal that was closed', () => {
  it.each([
    ['its process is gone', { startTime: '1' }],
    ['its process has another session', { session: 'another' }],
  ])('ends its session, which continues its conversation once it is resumed: %s', async (_, change) => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await endGone(stage)
    expect(await blue.place()).toMatchObject({ state: 'active', epoch: 1 })
    blue.transcript.prompts('One more thing')
    blue.transcript.answers('Done too.', 21_000)
    changeNote(stage, change)
    await endGone(stage)
    expect(await blue.place()).toMatchObject({ state: 'completed', epoch: 1, turns: 2 })
    const { conversation } = await blue.place()
    noteProcess(stage.folder, blue.id, HERE)
    await blue.start('resume')
    expect(await blue.place()).toMatchObject({ state: 'active', epoch: 2, conversation })
  })

  it.each([
    ['on another machine', { startTime: '1', host: 'elsewhere' }],
    ['in another container', { startTime: '1', pids: 'pid:[1]' }],
  ])('is not looked for %s', async (_, change) => {
    await using stage = new Stage()
    const blue = await noted(stage)
    changeNote(stage, change)
    expect(agentOf(stage.folder, blue.id)).toBe('elsewhere')
    await endGone(stage)
    expect((await blue.place()).state).toBe('active')
  })

  it('is not known where the process may have been a shell in between', async () => {
    await using stage = new Stage()
    noteProcess(stage.folder, 'p-1', HERE)
    expect(agentOf(stage.folder, 'p-1')).toBe('live')
    changeNote(stage, { startTime: null, isNamed: false })
    expect(agentOf(stage.folder, 'p-1')).toBe('unknown')
  })

  it('whose hooks note no process is not ended', async () => {
    await using stage = new Stage()
    const blue = new AgentTerminal(stage, 'codex')
    await blue.start()
    await endGone(stage)
    expect((await blue.place()).state).toBe('active')
  })

  it('lets the next session continue the conversation that it worked', async () => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await blue.leaves('Half is done.')
    const green = new AgentTerminal(stage, 'claude')
    await green.start('clear')
    await green.says('Continue')
    const { conversation } = await green.place()
    noteProcess(stage.folder, green.id, HERE)
    await green.start('resume')
    changeNote(stage, { startTime: '1' })
    await blue.start('resume')
    expect(await blue.place()).toMatchObject({ conversation, epoch: 3 })
  })

  it('whose document waits is shown as closed, and is taken over', async () => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await blue.leaves('Half is done.')
    changeNote(stage, { startTime: '1' })
    await endGone(stage)
    expect((await blue.place()).state).toBe('active')
    const { requests } = await stage.open()
    expect(await requests.workingIn(stage.workspace)).toEqual([])
    const green = new AgentTerminal(stage, 'claude')
    await green.start()
    await green.says('Continue')
    expect(await green.place()).toMatchObject({ epoch: 2, conversation: (await blue.place()).conversation })
  })
})

describe('a document that is left after the end', () => {
  it('is of the last session here, and the next one takes it over with the words', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    expect(await requests.handingIn(stage.workspace)).toEqual([])
    const blue = await noted(stage)
    expect(await requests.handingIn(stage.workspace)).toMatchObject([{ providerSessionId: blue.id }])
    await blue.ends()
    const { conversation } = await blue.place()
    expect(await requests.handingIn(stage.workspace)).toMatchObject([
      { providerSessionId: blue.id, state: 'completed' },
    ])
    await blue.leaves('Half is done.')
    expect(waiting(stage)).toMatchObject({ document: 'Half is done.', conversationId: conversation })
    expect(await requests.workingIn(stage.workspace)).toEqual([])
    await blue.leaves('More is done.')
    const green = new AgentTerminal(stage, 'claude')
    const { inject } = await green.start()
    for (const text of ['More is done.', 'Never touch the migrations']) expect(inject).toContain(text)
    await green.says('Continue')
    expect(await green.place()).toMatchObject({ conversation, parent: undefined, epoch: 3, state: 'active' })
    expect(await green.compacts()).toContain('Never touch the migrations')
  })

  it('ends its session again when it is withdrawn', async () => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await blue.ends()
    await blue.leaves('Half is done.')
    const { requests } = await stage.open()
    expect(await requests.withdraw(blue.id)).toMatchObject({ ok: true })
    expect(await blue.place()).toMatchObject({ state: 'completed', epoch: 2 })
  })

  it('of a session that said nothing is refused, and changes nothing', async () => {
    await using stage = new Stage()
    const blue = new AgentTerminal(stage, 'claude')
    await blue.start()
    await blue.ends()
    const { requests } = await stage.open()
    const left = await requests.handoff(blue.id, { document: 'x' })
    expect(left).toMatchObject({ ok: false, error: { code: 'session.no_turns' } })
    expect(await stage.sessions(blue.id)).toHaveLength(1)
    expect(await requests.handoff(blue.id, { document: ' ' })).toMatchObject({ error: { code: 'input.invalid' } })
  })
})

describe('a document that waits', () => {
  it('is in the status until it is taken, and then who took it', async () => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await blue.leaves('Half is done.')
    await blue.ends()
    const look = async (): Promise<StatusFrame> => ({
      store: 'memory',
      service: { state: 'none' },
      documents: listPending(stage.folder),
      work: await readWorkStatus({ store: stage.store }),
    })
    const before = await look()
    expect(lines(before)).toMatch(/Documents for the next session: 1\n.*\nclaude-code .*/)
    expect(lines(before)).toContain(stage.workspace)
    expect(lines(before)).not.toContain('Waiting handoffs: none')
    expect(statusDocument(before)).toMatchObject({
      documents: [{ from: 'claude-code', providerSessionId: blue.id, workspace: stage.workspace }],
      takenDocuments: [],
    })
    const green = new AgentTerminal(stage, 'codex')
    await green.start()
    await green.says('Continue')
    const after = await look()
    expect(lines(after)).toContain('Waiting handoffs: none')
    expect(lines(after)).toMatch(/Taken over in the last day: 1\n/)
    expect(statusDocument(after)).toMatchObject({
      documents: [],
      takenDocuments: [
        { from: 'claude-code', to: 'codex', leftBy: blue.id, takenBy: green.id, workspace: stage.workspace },
      ],
    })
    const [session] = after.work?.sessions ?? []
    expect(session && workStateOf(session)).toBe('active')
    expect(session && workStateOf({ ...session, isClosed: true })).toBe('closed')
  })

  it('is said to the person who gets it, and to the one who left it once another has it', async () => {
    await using stage = new Stage()
    const blue = await noted(stage)
    await blue.leaves('Half is done.')
    const green = new AgentTerminal(stage, 'claude')
    expect((await green.start()).notice).toMatch(/begins with the document that "claude-code" left here at .* UTC/)
    expect((await blue.hook('stop')).notice).toBeUndefined()
    await green.says('Continue')
    expect((await blue.hook('user-prompt-submit', { prompt: 'And?' })).notice).toContain(
      `taken over by session ${green.id}`,
    )
    expect((await blue.hook('stop')).notice).toBeUndefined()
    const red = new AgentTerminal(stage, 'claude')
    expect((await red.start()).notice).toBeUndefined()
  })
})
