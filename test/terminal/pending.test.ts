import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { everyPage } from '../../src/ports/store/page.ts'
import { leaves, left, Terminal, waiting, waitingFile, worked } from './handing.ts'
import { Stage } from './stage.ts'

const handoffsOf = async (stage: Stage, terminal: Terminal) => {
  const session = await terminal.session()
  return (await stage.store.handoffs.listForConversation(session?.conversationId as never, { limit: 10 })).items
}

const wordsOf = async (stage: Stage, terminal: Terminal): Promise<readonly string[]> => {
  const session = await terminal.session()
  const texts: string[] = []
  const pages = everyPage((page) => stage.store.messages.listSessionMessages(session?.id as never, page))
  for await (const { origin, text } of pages) if (origin === 'person') texts.push(text)
  return texts
}

describe('a document for the next session', () => {
  it('waits, and nothing else happens', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    const pending = await leaves(stage, blue)
    expect(await blue.session()).toMatchObject({ state: 'active', epoch: 1 })
    expect(await handoffsOf(stage, blue)).toEqual([])
    expect(readFileSync(pending.path, 'utf8')).toBe('Half is done.')
    expect(waiting(stage)).toMatchObject({ document: 'Half is done.', providerSessionId: blue.id })
    for (const file of [pending.path, waitingFile(stage)]) expect(statSync(file).mode & 0o777).toBe(0o600)
    await blue.asks('One more thing')
    await blue.answers('Done too.')
    expect((await blue.session())?.progress.turns).toBe(2)
  })

  it('is taken up by the first turn of the next session, with the person’s words', async () => {
    await using stage = new Stage()
    const blue = await worked(stage, 'Fix it', 'Never touch the migrations')
    const { text } = await leaves(stage, blue)
    await blue.ends('clear')
    expect((await blue.session())?.state).toBe('active')
    const green = new Terminal(stage)
    for (const _ of [1, 2]) {
      const { inject, sessionId } = await green.start('clear')
      expect(inject).toContain('Half is done.')
      expect(inject).toContain('Never touch the migrations')
      expect(sessionId).toBeUndefined()
    }
    await green.asks('Continue')
    expect(await green.session()).toBeUndefined()
    await green.answers('I continue.')
    const [source, target] = [await blue.session(), await green.session()]
    expect(target).toMatchObject({ state: 'active', epoch: 2, conversationId: source?.conversationId })
    expect(target?.progress.turns).toBe(1)
    expect(await handoffsOf(stage, green)).toMatchObject([
      {
        kind: 'context_restart',
        status: 'completed',
        sourceSessionId: source?.id,
        targetSessionId: target?.id,
        priorTurnId: source?.progress.lastTurnId,
        document: 'Half is done.',
        reason: 'The window is full',
      },
    ])
    expect(source?.state).toBe('handed_off')
    const opening = await stage.store.messages.findOpening(target?.id as never)
    expect(JSON.stringify(opening)).toContain(JSON.stringify(text.slice(0, 80)).slice(1, -1))
    expect(await wordsOf(stage, green)).toEqual(['Continue'])
    const conversation = await stage.store.conversations.find(target?.conversationId as never)
    expect(conversation?.asked?.prompt).toBe('Continue')
    expect(left(stage)).toEqual([])
    expect(stage.card(green.id)).toMatchObject({ restarts: 1, notices: [] })
  })

  it.each(['clear', 'prompt_input_exit', 'logout', 'other'])(
    'keeps its session open after an end by %s',
    async (reason) => {
      await using stage = new Stage()
      const blue = await worked(stage)
      await leaves(stage, blue)
      await blue.ends(reason)
      await stage.restart()
      expect((await blue.session())?.state).toBe('active')
      const green = new Terminal(stage)
      expect((await green.start()).inject).toContain('Half is done.')
      await green.asks('Continue')
      await green.answers('I continue.')
      expect((await blue.session())?.state).toBe('handed_off')
    },
  )

  it('goes to the one of two that takes the first turn; the other loses nothing of what it said', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    await blue.ends('other')
    const [green, red] = [new Terminal(stage), new Terminal(stage)]
    for (const terminal of [green, red]) expect((await terminal.start()).inject).toContain('Half is done.')
    await green.asks('From green')
    await red.asks('From red')
    const told = await Promise.all([red.answers('Red was first.'), green.answers('Green was second.')])
    const [second, first] = [await green.session(), await red.session()]
    const winners = [first, second].filter((one) => one?.initiatedByHandoff !== undefined)
    expect(winners).toHaveLength(1)
    expect(first?.conversationId).not.toBe(second?.conversationId)
    expect([await wordsOf(stage, green), await wordsOf(stage, red)]).toEqual([['From green'], ['From red']])
    const loser = first === winners[0] ? green : red
    expect(told.filter(({ notice }) => notice?.includes('taken up by another session'))).toHaveLength(1)
    expect(stage.card(loser.id).notices.join()).toContain('a conversation of its own')
    expect((await loser.asks('And now?')).notice).toContain('taken up')
    expect(stage.card(loser.id).notices).toEqual([])
    expect(left(stage)).toEqual([])
  })

  it('is offered to a session that never lives, and waits for the next one', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    const ghost = new Terminal(stage)
    await ghost.start()
    await ghost.ends('other')
    expect(await ghost.session()).toBeUndefined()
    const quiet = new Terminal(stage)
    await quiet.start()
    await quiet.asks('Hello?')
    await quiet.ends('other')
    expect(await quiet.session()).toBeUndefined()
    await quiet.start('resume')
    await quiet.answers('Here I am.')
    expect((await quiet.session())?.conversationId).toBe((await blue.session())?.conversationId)
  })

  it('is not for a session that is resumed, was there before, or runs inside of another one', async () => {
    await using stage = new Stage()
    const [blue, before] = [await worked(stage), await worked(stage)]
    await leaves(stage, blue)
    expect((await blue.start('resume')).inject).toBeUndefined()
    expect((await blue.start('startup')).inject).toBeUndefined()
    expect((await before.start('startup')).inject).toBeUndefined()
    for (const input of [{ within: blue.id }, { parentSessionId: (await blue.session())?.id }]) {
      const child = new Terminal(stage)
      expect((await child.start('startup', input as object)).inject).toBeUndefined()
      expect(await child.session()).toMatchObject({ state: 'active', epoch: 1 })
    }
    expect((await new Terminal(stage).start('fork')).inject).toBeUndefined()
  })

  it('comes back to the session that wrote it when its name stays after a clear', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    await blue.ends('clear')
    expect((await blue.start('clear')).inject).toContain('Half is done.')
    await blue.asks('Continue')
    expect(await stage.sessions(blue.id)).toHaveLength(1)
    await blue.answers('I continue.')
    const [source, target] = await stage.sessions(blue.id)
    expect(source?.state).toBe('handed_off')
    expect(target).toMatchObject({ state: 'active', epoch: 2, progress: { turns: 1 } })
  })

  it('goes to another runtime as a transfer between agents', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    const id = `codex-${blue.id}`
    const input = { providerSessionId: id, source: 'startup', transcriptPath: '/nowhere.jsonl' }
    expect((await stage.hook('session-start', input, {}, 'codex')).inject).toContain('Half is done.')
    await stage.hook('stop', { providerSessionId: id, transcriptPath: '/nowhere.jsonl' }, {}, 'codex')
    const [target] = await stage.sessions(id)
    expect(target).toMatchObject({ agentName: 'codex', backend: 'codex', epoch: 2 })
    expect(await handoffsOf(stage, blue)).toMatchObject([{ kind: 'agent_transfer', status: 'completed' }])
  })

  it('makes a session of its successor before its first turn is over, when its agent asks for something', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    const blue = await worked(stage)
    await leaves(stage, blue)
    const green = new Terminal(stage)
    await green.start()
    expect((await requests.view(green.id)).ok).toBe(false)
    await green.asks('Continue')
    const view = await requests.view(green.id)
    expect(view.ok && view.value.lastHandoff?.document).toBe('Half is done.')
    await green.answers('I continue.')
    expect((await green.session())?.progress.turns).toBe(1)
  })

  it('says how much was done after it, and has the words since', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    await blue.asks('Only in British English, please')
    await blue.answers('Colour.')
    const green = new Terminal(stage)
    const { inject } = await green.start()
    expect(inject).toContain('It worked on after that, for 1 more turn.')
    expect(inject?.match(/Only in British English, please/g)).toHaveLength(1)
  })
})

describe('a person who works on in the terminal whose document was taken up', () => {
  it('has a conversation beside it, and nothing is lost', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue)
    const green = new Terminal(stage)
    await green.start()
    await green.asks('Continue')
    await green.answers('I continue.')
    await blue.asks('Me too')
    await blue.answers('So do I.')
    const [first, beside] = await stage.sessions(blue.id)
    expect(first?.state).toBe('handed_off')
    expect(beside).toMatchObject({ state: 'active', epoch: 1, progress: { turns: 1 } })
    expect(beside?.conversationId).not.toBe(first?.conversationId)
    expect(await wordsOf(stage, blue)).toEqual(['Me too'])
    await blue.ends('other')
    expect((await blue.session())?.state).toBe('completed')
  })
})

describe('a document that is over', () => {
  it('was withdrawn: its session ends, if its terminal has', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    const [blue, other] = [await worked(stage), await worked(stage)]
    await leaves(stage, blue)
    await blue.ends('logout')
    expect((await requests.withdraw(blue.id)).ok).toBe(true)
    expect((await blue.session())?.state).toBe('completed')
    expect(await requests.withdraw(blue.id)).toMatchObject({ ok: false, error: { code: 'document.not_pending' } })
    await leaves(stage, other)
    await requests.withdraw(other.id)
    expect((await other.session())?.state).toBe('active')
    await other.ends('other')
    expect((await other.session())?.state).toBe('completed')
    expect(left(stage)).toEqual([])
  })

  it('was withdrawn after a session began with it: that one is a conversation of its own, and its prompts are kept', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    const blue = await worked(stage)
    await leaves(stage, blue)
    const green = new Terminal(stage)
    await green.start()
    await green.asks('Continue')
    await green.ends('other')
    await requests.withdraw(blue.id)
    const { terminals } = await stage.open()
    await terminals.sweep()
    const alone = await green.session()
    expect(alone).toMatchObject({ state: 'completed', epoch: 1 })
    const conversation = await stage.store.conversations.find(alone?.conversationId as never)
    expect(conversation?.asked?.prompt).toBe('Continue')
    expect(left(stage)).toEqual([])
  })

  it('was replaced: the workspace has one, and the session of the first waits no longer', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    const [blue, red] = [await worked(stage), await worked(stage)]
    await leaves(stage, blue, 'The first.')
    await blue.ends('other')
    const second = await requests.handoff(red.id, { document: 'The second.' })
    expect(second).toMatchObject({ ok: true, value: { state: 'pending', isReplacing: true } })
    expect((await blue.session())?.state).toBe('completed')
    const green = new Terminal(stage)
    expect((await green.start()).inject).toContain('The second.')
    await green.asks('Continue')
    await green.answers('I continue.')
    expect((await red.session())?.state).toBe('handed_off')
    expect(left(stage)).toEqual([])
  })

  it('was replaced after a session began with it: that one is alone, and the second still waits', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    await leaves(stage, blue, 'The first.')
    const green = new Terminal(stage)
    expect((await green.start()).inject).toContain('The first.')
    await leaves(stage, blue, 'The second.')
    await green.asks('Continue')
    await green.answers('I continue.')
    expect(await green.session()).toMatchObject({ epoch: 1, progress: { turns: 1 } })
    expect(waiting(stage)?.document).toBe('The second.')
    expect((await blue.session())?.state).toBe('active')
  })

  it('has waited for a week: nobody is given it, and its session is ended', async () => {
    await using stage = new Stage({ at: '2026-11-17T10:00:00.000Z' })
    const blue = await worked(stage)
    await leaves(stage, blue)
    await blue.ends('other')
    const eighth = 8 * 86_400
    const green = new Terminal(stage)
    const late = await stage.hook(
      'session-start',
      { providerSessionId: green.id, source: 'startup', transcriptPath: green.transcript.path },
      { second: eighth },
    )
    expect(late.inject).toBeUndefined()
    expect(late.sessionId).toBeDefined()
    stage.clock?.advance(eighth * 1_000)
    await (await stage.open()).terminals.sweep()
    expect((await blue.session())?.state).toBe('completed')
    expect(left(stage)).toEqual([])
  })

  it('belongs to a session that was ended nevertheless: the new one is alone, and the person is told', async () => {
    await using stage = new Stage()
    const blue = await worked(stage)
    const { path } = await leaves(stage, blue)
    const source = await blue.session()
    const { HandoffService, systemClock, uuidV7Ids } = await import('../../src/entry/container.ts')
    const handoffs = new HandoffService({ store: stage.store, clock: systemClock, ids: uuidV7Ids })
    const ended = await handoffs.completeSession({ session: source?.id as never, byHand: true })
    expect(ended.ok).toBe(true)
    const green = new Terminal(stage)
    await green.start()
    await green.asks('Continue')
    const { notice } = await green.answers('I continue.')
    expect(notice).toContain(path)
    expect(notice).toContain('session.')
    const alone = await green.session()
    expect(alone).toMatchObject({ state: 'active', epoch: 1, progress: { turns: 1 } })
    expect(alone?.conversationId).not.toBe(source?.conversationId)
    expect(stage.card(green.id).lastHandoffPath).toBe(path)
    expect(left(stage)).toEqual([])
  })
})

describe('the workspace of a session', () => {
  const gitFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'git-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    execFileSync('git', ['init', '-q', folder])
    return folder
  }
  const offered = async (from: string, to: string): Promise<boolean> => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start('startup', { cwd: from })
    await blue.asks('Fix it')
    await blue.answers('Half.')
    await leaves(stage, blue)
    const { inject } = await new Terminal(stage).start('startup', { cwd: to })
    return inject !== undefined
  }

  it('is the root of the git worktree around its folder', async () => {
    const root = gitFolder()
    mkdirSync(join(root, 'a', 'b'), { recursive: true })
    mkdirSync(join(root, 'c'))
    expect(await offered(join(root, 'a', 'b'), join(root, 'c'))).toBe(true)
    expect(await offered(root, join(root, 'a'))).toBe(true)
    expect(await offered(root, gitFolder())).toBe(false)
  })

  it('is another one in another worktree of the same repository', async () => {
    const root = gitFolder()
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { stdio: 'ignore' })
    git('commit', '--allow-empty', '-m', 'one')
    git('worktree', 'add', join(root, 'tree'))
    expect(await offered(root, join(root, 'tree'))).toBe(false)
  })

  it('is the folder itself outside of git, through no link', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plain-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    for (const name of ['one', 'two']) mkdirSync(join(folder, name))
    symlinkSync(join(folder, 'one'), join(folder, 'link'))
    expect(await offered(join(folder, 'one'), join(folder, 'link'))).toBe(true)
    expect(await offered(join(folder, 'one'), join(folder, 'two'))).toBe(false)
    expect(await offered(join(folder, 'one'), folder)).toBe(false)
  })

  it('is not known of a folder that is gone: the document is refused', async () => {
    await using stage = new Stage()
    const { requests } = await stage.open()
    const blue = new Terminal(stage)
    await blue.start('startup', { cwd: join(stage.workspace, 'gone') })
    await blue.asks('Fix it')
    await blue.answers('Half.')
    const asked = await requests.handoff(blue.id, { document: 'Half is done.' })
    expect(asked).toMatchObject({ ok: false, error: { code: 'workspace.unknown' } })
  })
})
