import { expect, it } from 'vitest'
import { optional } from '../../src/domain/input/check.ts'
import { text } from '../../src/domain/input/words.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { content, type Fields } from '../../src/services/commands/command.ts'
import { repeatable } from '../../src/services/commands/references.ts'
import type { Repeatable } from '../../src/services/commands/requests.ts'

interface Asked extends Repeatable {
  readonly reason: string
  readonly document?: string
}

it('a property that a definition forgets does not compile', () => {
  const whole: Fields<Asked> = { ...repeatable, reason: content(text), document: content(optional(text)) }
  // @ts-expect-error the document is forgotten
  const forgetful: Fields<Asked> = { ...repeatable, reason: content(text) }
  // @ts-expect-error a property that may be left out needs a check that lets it
  const strict: Fields<Asked> = { ...repeatable, reason: content(text), document: content(text) }
  expect([whole, forgetful, strict].map((fields) => Object.keys(fields).length)).toEqual([3, 2, 3])
})

it('notes are typed as the caller says', async () => {
  interface Notes {
    readonly conversation: { readonly ticket: string }
    readonly session: object
    readonly handoff: object
  }
  await using batonpass = await createBatonpass<Notes>({ store: 'memory' })
  const { handoffs, history } = batonpass
  const opened = unwrap(await handoffs.openConversation({ originalTask: 'Fix it', metadata: { ticket: 'T-1' } }))
  const ticket: string | undefined = opened.conversation.metadata?.ticket
  expect(ticket).toBe('T-1')
  // @ts-expect-error a ticket is text
  const wrong = await handoffs.openConversation({ originalTask: 'Fix it', metadata: { ticket: 1 } })
  expect(wrong.ok).toBe(true)
  expect((await history.conversation(opened.conversation.id))?.metadata?.ticket).toBe('T-1')
})
