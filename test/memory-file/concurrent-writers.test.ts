import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Child, startChild } from '../embedded/child-process.ts'
import { temporaryFolder } from '../embedded/temporary-folder.ts'
import { ABOVE, around, BELOW, FILE, holderIn } from './sample.ts'

/** A few with every run; `npm run test:memory-file` for the five hundred that prove it. */
const WRITES = Number(process.env.MEMORY_FILE_WRITES ?? 40)
/** So many writes for each way of saving that is measured. */
const GAP_WRITES = Number(process.env.MEMORY_FILE_GAP_WRITES ?? 8)

const readyFolder = (): string => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'CLAUDE.md'), FILE)
  return folder
}

const textIn = (folder: string): string => readFileSync(join(folder, 'CLAUDE.md'), 'utf8')

/** Lets writers make so many changes together. @returns everything they said */
const write = async (folder: string, writes: number, names: readonly string[]): Promise<readonly string[]> => {
  const writers = await Promise.all(names.map((name) => startChild('../memory-file/writer.ts', [folder, name])))
  onTestFinished(() => Promise.all(writers.map(({ kill }) => kill())).then(() => {}))
  for (const writer of writers) writer.say(String(writes / names.length))
  const heard = await Promise.all(writers.map(wordsOf))
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(names.map(() => 0))
  return heard.flat()
}

const wordsOf = async (writer: Child): Promise<readonly string[]> => {
  const heard: string[] = []
  for (let line = await writer.hear(); line !== 'done'; line = await writer.hear()) heard.push(line)
  return heard
}

interface Edited {
  readonly edits: number
  readonly retries: number
  readonly putBack: number
}

/** Lets an editor add lines while something else happens. */
const whileEditing = async <T>(folder: string, kind: string, thinkMs: number, work: () => Promise<T>) => {
  await using editor = await startChild('../memory-file/editor.ts', [folder, kind, String(thinkMs)])
  editor.say('begin')
  const done = await work()
  editor.say('stop')
  return { done, edited: JSON.parse(await editor.hear()) as Edited }
}

const editsIn = (text: string): readonly number[] =>
  [...text.matchAll(/\r\nEdit (\d+)\./g)].map(([, number]) => Number(number)).sort((one, other) => one - other)

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
const counted = (heard: readonly string[], word: string): number => heard.filter((line) => line.startsWith(word)).length

describe('two processes of ours', () => {
  it(`make ${WRITES} changes one after the other, and none is lost`, async () => {
    const folder = readyFolder()
    const heard = await write(folder, WRITES, ['one', 'two'])
    expect([counted(heard, 'filled'), counted(heard, 'reset')]).toEqual([WRITES / 2, WRITES / 2])
    expect(textIn(folder)).toBe(FILE)
    expect(readdirSync(folder)).toEqual(['CLAUDE.md'])
  })

  it(`make ${WRITES} changes beside an editor that looks before it saves: one block, no lost edit`, async () => {
    const folder = readyFolder()
    const { done: heard, edited } = await whileEditing(folder, 'careful', 0, () =>
      write(folder, WRITES, ['one', 'two']),
    )
    const text = textIn(folder)
    expect(holderIn(text)).toBeUndefined()
    expect(editsIn(text)).toEqual(upTo(edited.edits))
    const [above, below = ''] = around(text)
    expect([above, below.replaceAll(/\r\nEdit \d+\./g, '')]).toEqual([ABOVE, BELOW])
    expect(readdirSync(folder)).toEqual(['CLAUDE.md'])
    console.log(
      `${WRITES} writes beside a careful editor: ${JSON.stringify({ ...edited, lost: counted(heard, 'lost') })}`,
    )
  })
})

describe('the gap that remains', () => {
  it.each([
    ['rename', 0],
    ['rename', 100],
    ['in-place', 0],
    ['in-place', 100],
  ] as const)('with an editor that saves %s and does not look, after up to %i ms: measured', async (kind, thinkMs) => {
    const folder = readyFolder()
    const { done: heard, edited } = await whileEditing(folder, kind, thinkMs, () => write(folder, GAP_WRITES, ['one']))
    const text = textIn(folder)
    const rescued = readdirSync(folder).filter((name) => name.includes('.rescued-'))
    const texts = [text, ...rescued.map((name) => readFileSync(join(folder, name), 'utf8'))]
    const lost = edited.edits - new Set(texts.flatMap(editsIn)).size
    const counts = { edits: edited.edits, editsLost: lost, rescued: rescued.length }
    const ours = {
      fills: counted(heard, 'filled'),
      fillsLost: counted(heard, 'lost'),
      resetsLost: counted(heard, 'returned'),
    }
    console.log(`${kind}, up to ${thinkMs} ms: ${JSON.stringify({ ...counts, ...ours })}`)
    // Whoever loses, what is there is whole.
    const [above, below = ''] = around(text)
    expect([above, below.replaceAll(/\r\nEdit \d+\./g, '')]).toEqual([ABOVE, BELOW])
    holderIn(text)
  })
})
