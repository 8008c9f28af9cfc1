import assert from 'node:assert/strict'
import type { LookBackQuestion } from '../../domain/history/look-back.ts'
import {
  LOOK_BACK_BOUNDS,
  type LookBackBounds,
  type LookBackPoint,
  type LookBackRead,
  type LookBackScope,
  needlesOf,
} from '../../domain/history/look-back-search.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import type { MessageInput } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Scene } from '../scene.ts'

type Bounds = Partial<LookBackBounds>

/** Reads what a question asks for, within these bounds. */
export const read = async (
  { store }: Scene,
  scope: LookBackScope,
  question: LookBackQuestion,
  { from, ...bounds }: Bounds & { readonly from?: LookBackPoint } = {},
): Promise<LookBackRead> => {
  const all = { ...LOOK_BACK_BOUNDS, characters: 8_000, ...bounds }
  const found = await store.lookBacks.read(
    defined({ scope, question, needles: needlesOf(question), from, bounds: all }),
  )
  assert.ok(found)
  return found
}

/** A question by words. */
export const words = (said: string): LookBackQuestion => ({ by: 'words', words: said })

/** The texts that were found. */
export const texts = ({ found }: LookBackRead): readonly string[] => found.map(({ passage }) => passage.text)

/** Records a turn of these messages. */
export const say = async (scene: Scene, working: WorkingSession, ...messages: readonly MessageInput[]) =>
  ({ ...working, ...unwrap(await scene.service.recordTurn({ ...working, messages })) }) satisfies WorkingSession

/** An answer that calls a tool. */
export const calling = (callId: string, toolName: string, argument: string, text = ''): MessageInput => ({
  ...{ role: 'assistant', text, toolCalls: [{ callId, toolName, argument }] },
})

/** The result of a call. */
export const result = (callId: string, text: string): MessageInput => ({
  role: 'tool',
  text,
  providerMessageId: callId,
})

/** Hands a conversation over to its next window. */
export const passOn = async (scene: Scene, { session }: WorkingSession): Promise<WorkingSession> => {
  const to = { targetAgent: scene.name(`agent-${session.epoch}`), reason: 'The window is nearly full' }
  const { handoff } = unwrap(await scene.service.initiateHandoff({ session: session.id, byHand: true, ...to }))
  unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
  const { session: next, holder } = unwrap(await scene.service.completeHandoff({ handoff, claimant: 'worker' }))
  assert.ok(holder)
  return { session: next, holder }
}

/** The windows, turns and roles that were found. */
export const placesOf = ({ found }: LookBackRead) => found.map(({ epoch, turn, role }) => [epoch, turn, role])

/** Characters that stores have trouble with: two units, half of two, none, and the mark of an escape. */
export const HARD = 'a😀b\u0000c\ud800d\uf8ffe\uf8ff0f'

/** Reads every part of a text, so many characters at a time. */
export const wholeText = async (scene: Scene, scope: LookBackScope, question: LookBackQuestion, characters: number) => {
  const parts: string[] = []
  let from: LookBackPoint | undefined
  for (let reads = 0; reads < 100; reads += 1) {
    const { found } = await read(scene, scope, question, defined({ characters, from }))
    const hit = found.at(-1)
    assert.ok(hit)
    const { text, before, after } = hit.passage
    parts.push(text)
    assert.ok([...text].length <= characters)
    if (after === 0) return parts.join('')
    from = { sequenceNumber: hit.sequenceNumber, offset: before + [...text].length }
  }
  return assert.fail('The text never ends')
}
