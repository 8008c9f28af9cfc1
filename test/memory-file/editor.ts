import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * A program of somebody else that adds lines to the file until it is told to stop. `careful` saves by rename, looks before
 * that whether the file changed and begins anew if so, and looks after it whether its lines are there. `rename` saves by
 * rename whatever happened meanwhile, `in-place` empties the file and writes it.
 */
const [folder = '', kind = '', thinkMs = '0'] = process.argv.slice(2)
const path = join(folder, 'CLAUDE.md')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const nameOf = (number: number): string => `\r\nEdit ${number}.`

let isOver = false
let edits = 0
let [retries, putBack] = [0, 0]

const state = (): string => {
  const { ino, size, mtimeMs } = statSync(path)
  return [ino, size, mtimeMs].join()
}

const missing = (text: string): readonly string[] =>
  Array.from({ length: edits }, (_, index) => nameOf(index + 1)).filter((edit) => !text.includes(edit))

const saveByRename = (text: string): void => {
  writeFileSync(`${path}.swap`, text)
  renameSync(`${path}.swap`, path)
}

/** Puts every line that is not there into the file, as often as it takes. */
const saveCarefully = async (): Promise<void> => {
  for (;;) {
    const before = state()
    const text = readFileSync(path, 'utf8')
    const lines = missing(text)
    if (lines.length === 0) return
    putBack += lines.length - Number(lines.at(-1) === nameOf(edits))
    writeFileSync(`${path}.swap`, `${text}${lines.join('')}`)
    if (state() === before) renameSync(`${path}.swap`, path)
    else retries += 1
    await wait(Math.random() * 4)
  }
}

const save = async (): Promise<void> => {
  if (kind === 'careful') return saveCarefully()
  const text = readFileSync(path, 'utf8')
  await wait(Math.random() * Number(thinkMs))
  const edited = `${text}${nameOf(edits)}`
  if (kind === 'rename') saveByRename(edited)
  else writeFileSync(path, edited)
}

const work = async (): Promise<void> => {
  while (!isOver) {
    edits += 1
    await save()
    await wait(20 + Math.random() * 60)
  }
  if (kind === 'careful') await saveCarefully()
  say(JSON.stringify({ edits, retries, putBack }))
  process.exit(0)
}

const lines = createInterface({ input: process.stdin })
lines.once('line', () => {
  lines.once('line', () => {
    isOver = true
  })
  void work()
})
say('loaded')
