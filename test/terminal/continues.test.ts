import { describe, expect, it } from 'vitest'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import { AgentTerminal, conversationsOf, otherFolder } from './continuing.ts'
import { waiting } from './handing.ts'
import { Stage } from './stage.ts'

const [ONE, TWO, THREE, DOCUMENT] = ['Rule one: no tabs', 'Rule two: no dots', 'Rule three: no dashes', 'Half is done.']

/** Looks whether each of these texts comes back once after a compaction, and the others do not. */
const comesBack = async (terminal: AgentTerminal, ...expected: readonly string[]): Promise<void> => {
  const text = await terminal.compacts()
  const found = [ONE, TWO, THREE, DOCUMENT].flatMap((each) =>
    Array.from({ length: text.split(each).length - 1 }, () => each),
  )
  expect(found.sort()).toEqual([...expected].sort())
}

// The table "How a session continues" of docs/terminal-agents.md, row by row.
describe.each(TERMINAL_AGENTS.map(({ name }) => name))('a session of %s', (runtime) => {
  /** One session that was told the first rule. */
  const told = async (stage: Stage): Promise<AgentTerminal> => {
    const blue = new AgentTerminal(stage, runtime)
    await blue.start()
    await blue.says(ONE)
    return blue
  }

  /** The same after it has left a document. */
  const waits = async (stage: Stage): Promise<AgentTerminal> => {
    const blue = await told(stage)
    await blue.leaves(DOCUMENT)
    await blue.ends()
    return blue
  }

  /** The same after another session has taken the document, and was told the second rule. */
  const taken = async (stage: Stage) => {
    const blue = await waits(stage)
    const green = new AgentTerminal(stage, runtime)
    await green.start(runtime === 'claude' ? 'clear' : 'startup')
    await green.says(TWO)
    expect(await green.place()).toMatchObject({ epoch: 2, state: 'active' })
    expect(waiting(stage)).toBeUndefined()
    return { blue, green, conversation: (await green.place()).conversation }
  }

  describe('that is resumed', () => {
    it('before a handoff is the next session of its conversation', async () => {
      await using stage = new Stage()
      const blue = await told(stage)
      const { conversation } = await blue.place()
      await blue.ends()
      await blue.start('resume')
      await blue.says(THREE)
      expect(await blue.place()).toMatchObject({ conversation, parent: undefined, epoch: 2, turns: 1 })
      await comesBack(blue, ONE, THREE)
    })

    it('while its document waits is the same session, and the document still waits', async () => {
      await using stage = new Stage()
      const blue = await waits(stage)
      await blue.start('resume')
      await blue.says(THREE)
      expect(await blue.place()).toMatchObject({ parent: undefined, epoch: 1, state: 'active', turns: 2 })
      expect(waiting(stage)?.text).toContain(THREE)
      await comesBack(blue, ONE, THREE, DOCUMENT)
    })

    it.each([false, true])(
      'after it has taken a document is the next session of that conversation (its file is lost: %s)',
      async (isLost) => {
        await using stage = new Stage()
        const { green, conversation } = await taken(stage)
        await green.ends()
        if (isLost) await stage.forgetKept(green.id)
        await green.start('resume')
        await green.says(THREE)
        expect(await green.place()).toMatchObject({ conversation, parent: undefined, epoch: 3 })
        expect(await conversationsOf(stage)).toHaveLength(1)
        await comesBack(green, ONE, TWO, THREE, DOCUMENT)
      },
    )

    it('after its document was taken is a branch, while the other works', async () => {
      await using stage = new Stage()
      const { blue, green, conversation } = await taken(stage)
      await blue.start('resume')
      await blue.says(THREE)
      expect(await blue.place()).toMatchObject({ parent: conversation, epoch: 1, turns: 1 })
      await comesBack(blue, ONE, TWO, THREE, DOCUMENT)
      await comesBack(green, ONE, TWO, DOCUMENT)
      await blue.ends()
      await blue.start('resume')
      expect(await blue.place()).toMatchObject({ parent: conversation, epoch: 2 })
    })

    it('after its document was taken continues the conversation, once nobody else works it', async () => {
      await using stage = new Stage()
      const { blue, green, conversation } = await taken(stage)
      await green.ends()
      await blue.start('resume')
      await blue.says(THREE)
      expect(await blue.place()).toMatchObject({ conversation, epoch: 3 })
      await comesBack(blue, ONE, TWO, THREE, DOCUMENT)
    })
  })

  describe('that is forked', () => {
    it('before a handoff is a branch of its conversation, and nothing is recorded twice', async () => {
      await using stage = new Stage()
      const blue = await told(stage)
      const { conversation } = await blue.place()
      const red = blue.forked()
      await red.start('fork')
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: conversation, epoch: 1, state: 'active', turns: 1 })
      await comesBack(red, ONE, THREE)
      await comesBack(blue, ONE)
      await red.ends()
      await red.start('resume')
      expect(await red.place()).toMatchObject({ parent: conversation, epoch: 2 })
    })

    it('while a document waits is not given it', async () => {
      await using stage = new Stage()
      const blue = await waits(stage)
      const red = blue.forked()
      expect((await red.start('fork')).inject).toBeUndefined()
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: (await blue.place()).conversation, epoch: 1 })
      expect(waiting(stage)?.document).toBe(DOCUMENT)
      await comesBack(red, ONE, THREE)
    })

    it('after a handoff is a branch, with the words from before it', async () => {
      await using stage = new Stage()
      const { green, conversation } = await taken(stage)
      const red = green.forked()
      await red.start('fork')
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: conversation, epoch: 1, turns: 1 })
      await comesBack(red, ONE, TWO, THREE, DOCUMENT)
    })

    it('from one that nobody knows is a conversation of its own, with all that its transcript has', async () => {
      await using stage = new Stage()
      const unknown = new AgentTerminal(stage, runtime)
      unknown.transcript.prompts(ONE)
      unknown.transcript.answers('I did.', 20_000)
      const red = unknown.forked()
      await red.start('fork')
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: undefined, epoch: 1, turns: runtime === 'claude' ? 2 : 1 })
    })
  })

  describe('in a second terminal', () => {
    it.each(['before', 'after'])('that is new is a conversation of its own, %s a handoff', async (when) => {
      await using stage = new Stage()
      await (when === 'before' ? told(stage) : taken(stage))
      const red = new AgentTerminal(stage, runtime)
      expect((await red.start()).inject).toBeUndefined()
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: undefined, epoch: 1 })
      await comesBack(red, THREE)
    })

    it('that is new takes the document that waits; of two the second is a branch', async () => {
      await using stage = new Stage()
      const blue = await waits(stage)
      const { conversation } = await blue.place()
      const [green, red] = [new AgentTerminal(stage, runtime), new AgentTerminal(stage, runtime)]
      for (const each of [green, red]) expect((await each.start()).inject).toContain(ONE)
      await green.says(TWO)
      await red.says(THREE)
      expect(await green.place()).toMatchObject({ conversation, epoch: 2 })
      expect(await red.place()).toMatchObject({ parent: conversation, epoch: 1 })
      await comesBack(red, ONE, TWO, THREE, DOCUMENT)
      await comesBack(green, ONE, TWO, DOCUMENT)
    })

    it.each(['before', 'while', 'after'])(
      'that resumes the same session: what is said in either counts, also once one has ended, %s a handoff',
      async (when) => {
        await using stage = new Stage()
        const one =
          when === 'before' ? await told(stage) : when === 'while' ? await waits(stage) : (await taken(stage)).green
        const { conversation, parent } = await one.place()
        await one.start('resume')
        const other = one.elsewhere()
        await other.start('resume')
        await one.ends()
        await other.says(THREE)
        expect(await other.place()).toMatchObject({ conversation, parent, state: 'active' })
        expect(await conversationsOf(stage)).toHaveLength(1)
        const more = { before: [], while: [DOCUMENT], after: [TWO, DOCUMENT] }[when] ?? []
        await comesBack(other, ONE, THREE, ...more)
      },
    )
  })

  describe('in another folder', () => {
    it.each(['before', 'while', 'after'])(
      'that is resumed there works in its conversation, %s a handoff',
      async (when) => {
        await using stage = new Stage()
        const one =
          when === 'before' ? await told(stage) : when === 'while' ? await waits(stage) : (await taken(stage)).green
        const { conversation } = await one.place()
        await one.ends()
        const there = one.elsewhere(otherFolder(stage))
        expect((await there.start('resume')).inject).toBeUndefined()
        await there.says(THREE)
        expect(await there.place()).toMatchObject({ conversation, state: 'active' })
        expect(waiting(stage)?.document).toBe(when === 'while' ? DOCUMENT : undefined)
        const more = { before: [], while: [DOCUMENT], after: [TWO, DOCUMENT] }[when] ?? []
        await comesBack(there, ONE, THREE, ...more)
      },
    )

    it('that is new is a conversation of its own, and is not given the document that waits here', async () => {
      await using stage = new Stage()
      await waits(stage)
      const red = new AgentTerminal(stage, runtime, { cwd: otherFolder(stage) })
      expect((await red.start()).inject).toBeUndefined()
      await red.says(THREE)
      expect(await red.place()).toMatchObject({ parent: undefined, epoch: 1 })
      expect(waiting(stage)?.document).toBe(DOCUMENT)
      await comesBack(red, THREE)
    })
  })
})
