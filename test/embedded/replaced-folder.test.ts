import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import type { ConversationId } from '../../src/domain/kernel/ids.ts'
import { IS_FULL } from '../support/amounts.ts'
import { startChild } from './child-process.ts'
import {
  close,
  copyOfPlace,
  found,
  HAPPENINGS,
  type Happening,
  makePlace,
  openNext,
  type Place,
  saidBy,
  write,
} from './replaced-stage.ts'
import { temporaryFolder } from './temporary-folder.ts'

const shelf = mkdtempSync(join(tmpdir(), 'batonpass-replaced-'))
let original: Place
beforeAll(async () => {
  original = await makePlace(join(shelf, 'place'))
}, 0)
afterAll(() => rmSync(shelf, { recursive: true, force: true, maxRetries: 10 }))

/** The first process's store, and the next one's; what must be found at the end is collected. */
class Scene {
  readonly place = copyOfPlace(original, temporaryFolder())
  readonly happening: Happening
  readonly must: ConversationId[] = []
  #next: SqlStore | undefined

  constructor(happening: Happening) {
    this.happening = happening
  }

  get at(): string {
    return this.happening.at === 'moved' ? this.place.moved : this.place.dataDir
  }

  async next(): Promise<SqlStore> {
    this.#next ??= await openNext(this.at, this.happening.holds !== 'nothing')
    return this.#next
  }

  async nextWrites(): Promise<void> {
    this.must.push(await write(await this.next()))
  }

  async nextCloses(): Promise<void> {
    const next = await this.next()
    this.#next = undefined
    await close(next)
  }

  happens(before: readonly ConversationId[]): void {
    this.happening.happen(this.place)
    if (this.happening.holds === 'the backup') this.must.push(...this.place.backedUp)
    if (this.happening.holds === 'the same store') this.must.push(...this.place.backedUp, ...before)
  }
}

/** How the first process and the next one may follow each other. The first one's answer, if it writes, is the result. */
const ORDERS: Readonly<Record<string, (scene: Scene, first: SqlStore) => Promise<string>>> = {
  'close, open': async (scene, first) => {
    await close(first)
    await scene.nextWrites()
    await scene.nextCloses()
    return 'silent'
  },
  'write, close, open': async (scene, first) => {
    const said = await saidBy(first)
    await close(first)
    await scene.nextWrites()
    await scene.nextCloses()
    return said
  },
  'open, close, write on': async (scene, first) => {
    await scene.nextWrites()
    await close(first)
    await scene.nextWrites()
    await scene.nextCloses()
    return 'silent'
  },
  'open, write, close, write on': async (scene, first) => {
    await scene.nextWrites()
    const said = await saidBy(first)
    await scene.nextWrites()
    await close(first)
    await scene.nextWrites()
    await scene.nextCloses()
    return said
  },
  'open and close, close': async (scene, first) => {
    await scene.nextWrites()
    await scene.nextCloses()
    await close(first)
    return 'silent'
  },
  'open and close, write, close': async (scene, first) => {
    await scene.nextWrites()
    await scene.nextCloses()
    const said = await saidBy(first)
    await close(first)
    return said
  },
}

/** The orders that lost the most with every run; `npm run test:replaced` for all of them, and their table. */
const IS_WHOLE = process.env.REPLACED === 'all'
const WORST = ['open, write, close, write on', 'open and close, close']

/** The orders for a happening: one of the two worst in turn with every `npm test`, both at night. */
const ordersFor = (happening: (typeof HAPPENINGS)[number]): readonly string[] => {
  if (IS_WHOLE) return Object.keys(ORDERS)
  return IS_FULL ? WORST : WORST.filter((_, index) => index === HAPPENINGS.indexOf(happening) % 2)
}

/** The ends of the process for a happening: the others have the order in which it closes. */
const endsFor = (happening: (typeof HAPPENINGS)[number]): readonly string[] => {
  if (IS_WHOLE) return ['exit', 'kill', 'close']
  return IS_FULL || HAPPENINGS.indexOf(happening) % 2 === 0 ? ['close'] : []
}

/** A line of the table of all orders, as soon as it is known. */
const row = (...cells: readonly string[]): void => {
  if (IS_WHOLE) process.stdout.write(`${cells.join(' | ')}\n`)
}

describe.skipIf(process.platform === 'win32').each(HAPPENINGS)(
  'a folder that is $what while a process has it',
  (happening) => {
    it.each(ordersFor(happening))('the next one has all it was told was kept: %s', { timeout: 0 }, async (order) => {
      const scene = new Scene(happening)
      const first = await openPglite({ dataDir: scene.place.dataDir })
      const before = [await write(first), await write(first)]
      scene.happens(before)
      const said = await ORDERS[order]?.(scene, first)
      const there = await found(scene.at, scene.must)
      row(happening.what, order, `first: ${said}`, `next: ${there}`)
      const expected = order.includes('write,') ? (happening.isHarmless ? 'kept' : 'store.missing') : 'silent'
      expect({ said, there }).toEqual({ said: expected, there: `${scene.must.length} of ${scene.must.length}` })
    })

    it.each(endsFor(happening))('and the process ends by %s', { timeout: 0 }, async (end) => {
      const scene = new Scene(happening)
      await using first = await startChild('opener.ts', [scene.place.dataDir])
      first.say('open')
      expect(JSON.parse(await first.hear())).toMatchObject({ outcome: 'opened' })
      first.say('one')
      const before = [(await first.hear()) as ConversationId]
      scene.happens(before)
      await scene.nextWrites()
      if (end === 'kill') await first.kill()
      else {
        first.say(end)
        expect(await first.ended).toBe(0)
      }
      await scene.nextWrites()
      await scene.nextCloses()
      const there = await found(scene.at, scene.must)
      row(happening.what, `open and close, ${end}, write on (two processes)`, `first: ${end}`, `next: ${there}`)
      expect(there).toBe(`${scene.must.length} of ${scene.must.length}`)
    })
  },
)
