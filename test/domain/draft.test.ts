import { describe, expect, it } from 'vitest'
import { Draft, type Lifecycle } from '../../src/domain/kernel/draft.ts'
import { err, ok } from '../../src/domain/kernel/result.ts'

interface Door {
  readonly name: string
  readonly isOpen: boolean
  readonly version: number
}

type Built = { readonly type: 'built'; readonly name: string }
type Moved = { readonly type: 'opened' | 'shut'; readonly name: string }
type Change =
  | { readonly add: Door }
  | { readonly move: Door; readonly from: number }
  | { readonly expect: string; readonly at: number }
  | { readonly ring: string }

/** A door with a life of two states. */
const DOOR: Lifecycle<Door, Built, Moved, 'open' | 'shut', string, Change> = {
  keyOf: ({ name }) => name,
  begin: ({ name }) => ({ name, isOpen: false, version: 1 }),
  decide: ({ name, isOpen }, command) => {
    if (isOpen === (command === 'open')) return err(`it is ${isOpen ? 'open' : 'shut'}`)
    return ok({ type: command === 'open' ? 'opened' : 'shut', name })
  },
  evolve: (door, { type }) => ({ ...door, isOpen: type === 'opened', version: door.version + 1 }),
  changesOf: ({ first, now, isGuarded }) => {
    if (first === undefined) return [{ add: now }]
    if (first.version !== now.version) return [{ move: now, from: first.version }]
    return isGuarded ? [{ expect: now.name, at: first.version }] : []
  },
}

const drafted = () => new Draft<Built | Moved, Change>()
const front: Door = { name: 'front', isOpen: false, version: 7 }
const back: Door = { name: 'back', isOpen: false, version: 3 }

describe('a draft', () => {
  it('writes a thing once, as it was left, guarded by what it was first read as', () => {
    const draft = drafted()
    draft.apply(DOOR, front, 'open')
    draft.apply(DOOR, front, 'shut')
    draft.apply(DOOR, front, 'open')
    const { changes, events } = draft.finish('done').value
    expect(changes).toEqual([{ move: { ...front, isOpen: true, version: 10 }, from: 7 }])
    expect(events.map(({ type }) => type)).toEqual(['opened', 'shut', 'opened'])
  })

  it('continues from the newest state of an aggregate, whichever copy of it is named', () => {
    const draft = drafted()
    const opened = draft.apply(DOOR, front, 'open')
    expect(opened).toEqual(ok({ ...front, isOpen: true, version: 8 }))
    expect(draft.read(DOOR, front)).toBe(opened.ok && opened.value)
    // The copy says it is shut; the draft knows better.
    expect(draft.apply(DOOR, front, 'open')).toEqual(err('it is open'))
    expect(draft.read(DOOR, back)).toBe(back)
  })

  it('adds what it began, as it was left', () => {
    const draft = drafted()
    const begun = draft.begin(DOOR, { type: 'built', name: 'new' })
    draft.apply(DOOR, begun, 'open')
    const { changes, events } = draft.finish('done').value
    expect(changes).toEqual([{ add: { name: 'new', isOpen: true, version: 2 } }])
    expect(events.map(({ type }) => type)).toEqual(['built', 'opened'])
  })

  it('records nothing of a no', () => {
    const draft = drafted()
    expect(draft.apply(DOOR, front, 'shut')).toEqual(err('it is shut'))
    expect(draft.finish('done')).toEqual(ok({ changes: [], events: [], answer: 'done' }))
  })

  it('guards what it stood on, and once that moves the move is the guard', () => {
    const draft = drafted()
    draft.guard(DOOR, front)
    draft.guard(DOOR, back)
    draft.apply(DOOR, back, 'open')
    expect(draft.finish('done').value.changes).toEqual([
      { expect: 'front', at: 7 },
      { move: { ...back, isOpen: true, version: 4 }, from: 3 },
    ])
  })

  it('moves a thing beside its events, and logs events that move nothing', () => {
    const draft = drafted()
    draft.move(DOOR, front, { ...front, version: 9 })
    draft.log({ type: 'shut', name: 'front' })
    const { changes, events } = draft.finish('done').value
    expect(changes).toEqual([{ move: { ...front, version: 9 }, from: 7 }])
    expect(events).toEqual([{ type: 'shut', name: 'front' }])
  })

  it('keeps the order in which things were first touched, effects among them', () => {
    const draft = drafted()
    draft.effect({ ring: 'before' })
    draft.apply(DOOR, back, 'open')
    draft.effect({ ring: 'after' })
    draft.apply(DOOR, front, 'open')
    draft.apply(DOOR, back, 'shut')
    expect(draft.finish('done').value.changes.map((change) => Object.values(change)[0])).toMatchObject([
      'before',
      { name: 'back' },
      'after',
      { name: 'front' },
    ])
  })

  it('keeps kinds of things apart that share a key', () => {
    const GATE: typeof DOOR = { ...DOOR }
    const draft = drafted()
    draft.apply(DOOR, front, 'open')
    expect(draft.read(GATE, front)).toBe(front)
  })
})
