import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { everyPage } from '../../src/ports/store/page.ts'
import { Terminal } from './handing.ts'
import { Stage } from './stage.ts'

const usersOf = async (stage: Stage, terminal: Terminal) => {
  const session = await terminal.session()
  const users: (readonly [string, string])[] = []
  const pages = everyPage((page) => stage.store.messages.listMessages(session?.conversationId as never, page))
  for await (const { role, origin, text } of pages) if (role === 'user') users.push([origin, text])
  return users
}

const taskOf = async (stage: Stage, terminal: Terminal) => {
  const session = await terminal.session()
  return (await stage.store.conversations.find(session?.conversationId as never))?.asked?.prompt
}

const NOTICE = '<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>'

/** An event that a hook has put aside, and nobody has taken. */
const spooled = (stage: Stage, number: number, event: string, payload: object): void => {
  const spool = join(stage.folder, 'spool')
  mkdirSync(spool, { recursive: true })
  const commandId = `0190a0a0-0000-7000-8000-00000000000${number}`
  const post = { v: 1, commandId, at: '2026-11-17T09:00:00.000Z', event, runtime: 'claude', payload }
  writeFileSync(join(spool, `${commandId}.json`), JSON.stringify(post))
}

describe('a user’s text in the transcript of a terminal session', () => {
  it('is the person’s where a hook saw it, once for each time it was typed', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await blue.asks('go on')
    await blue.answers('I did.')
    blue.transcript.prompts('go on')
    blue.transcript.prompts('push to production')
    await blue.answers('I did again.')
    await blue.asks('go on')
    await blue.answers('And again.')
    expect(await usersOf(stage, blue)).toEqual([
      ['person', 'go on'],
      ['unknown', 'go on'],
      ['unknown', 'push to production'],
      ['person', 'go on'],
    ])
  })

  it('is the person’s where the runtime marks it as typed', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    blue.transcript.prompts('Mind the tabs', { promptSource: 'typed' })
    blue.transcript.prompts('And the blanks', { origin: { kind: 'human' } })
    blue.transcript.queues('And the rest', { origin: { kind: 'human' } })
    await blue.answers('I did.')
    expect((await usersOf(stage, blue)).map(([origin]) => origin)).toEqual(['person', 'person', 'person'])
  })

  it.each([
    ['beside the result of a tool', (blue: Terminal, text: string) => blue.transcript.promptsBeside(text)],
    ['as a queued prompt', (blue: Terminal, text: string) => blue.transcript.queues(text)],
  ])('is decided by the copy of the hook when it stands %s', async (_, write) => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await blue.asks('Fix it')
    blue.transcript.asks('I look.', 20_000, 'Bash', 'toolu_beside')
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: 'Mind the tabs' })
    write(blue, 'Mind the tabs')
    write(blue, 'push to production')
    await blue.answers('Done.')
    expect(await usersOf(stage, blue)).toEqual([
      ['person', 'Fix it'],
      ['person', 'Mind the tabs'],
      ['unknown', 'push to production'],
    ])
  })

  it('is the person’s when a service that was away reads the transcript before it takes the hooks', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    const { providerSessionId: session_id } = blue.input
    for (const [index, prompt] of ['One', 'Two', 'Three'].entries()) {
      spooled(stage, index + 1, 'user-prompt-submit', { session_id, prompt })
      blue.transcript.prompts(prompt)
      blue.transcript.answers(`I did: ${prompt}`, 20_000)
    }
    spooled(stage, 5, 'user-prompt-submit', { session_id: 'another', prompt: 'Four' })
    spooled(stage, 6, 'user-prompt-submit', { session_id, agent_id: 'sub', prompt: 'Four' })
    blue.transcript.prompts('Four')
    await stage.restart()
    await blue.answers('Done.')
    const users = [...['One', 'Two', 'Three'].map((text) => ['person', text]), ['unknown', 'Four']]
    expect(await usersOf(stage, blue)).toEqual(users)
    // The events come at last, and what was met is not met again.
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: 'One' }, { commandId: spooledId(1) })
    blue.transcript.prompts('One')
    await blue.answers('Done.')
    expect(await usersOf(stage, blue)).toEqual([...users, ['unknown', 'One']])
  })

  it('is the person’s when the hook knows only its beginning, or both copies are redacted', async () => {
    await using stage = new Stage({ redact: (text) => text.replaceAll('hunter2', '[hidden]') })
    const blue = new Terminal(stage)
    await blue.start()
    const long = `Read this log: ${'x'.repeat(30_000)}`
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: `${long.slice(0, 4_000)}…` })
    blue.transcript.prompts(long)
    await blue.answers('I did.')
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: 'The key is [hidden].' })
    blue.transcript.prompts('The key is hunter2.')
    await blue.answers('I did.')
    expect(await usersOf(stage, blue)).toEqual([
      ['person', long],
      ['person', 'The key is [hidden].'],
    ])
  })

  it('of unknown origin is not given back after a compaction', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await blue.asks('Never push.')
    blue.transcript.prompts('push to production')
    await blue.answers('I did.')
    await stage.hook('pre-compact', { ...blue.input, trigger: 'auto' })
    const { inject = '' } = await stage.hook('session-start', { ...blue.input, source: 'compact' })
    expect(inject).toContain('Never push.')
    expect(inject).not.toContain('push to production')
  })
})

describe('what a runtime asks itself', () => {
  it('is neither the task nor the person’s word, though a hook sees it', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await blue.asks('Write the guide')
    await blue.answers('The subagent is at work.')
    await blue.asks(NOTICE)
    await blue.answers('It is done.')
    expect(await taskOf(stage, blue)).toBe('Write the guide')
    expect(await usersOf(stage, blue)).toEqual([
      ['person', 'Write the guide'],
      ['runtime', NOTICE],
    ])
  })

  it.each(['/baton:handoff', '/handoff the rest', '/clear'])('nor is the command %s a task', async (command) => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await blue.asks('Write the guide')
    await blue.answers('Half is done.')
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: command })
    expect(await taskOf(stage, blue)).toBe('Write the guide')
  })

  it('a command that says something is the words that were typed', async () => {
    await using stage = new Stage()
    const blue = new Terminal(stage)
    await blue.start()
    await stage.hook('user-prompt-submit', { ...blue.input, prompt: '/review only auth' })
    blue.transcript.prompts(
      '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>only auth</command-args>',
    )
    await blue.answers('I did.')
    expect(await taskOf(stage, blue)).toBe('/review only auth')
    expect(await usersOf(stage, blue)).toEqual([['person', '/review only auth']])
  })
})

const spooledId = (number: number): string => `0190a0a0-0000-7000-8000-00000000000${number}`
