import { createInterface } from 'node:readline'
import { FileMemoryFiles } from '../../src/adapters/memory-file/file-memory-files.ts'
import { MemoryFileFailure } from '../../src/ports/terminal/memory-file.ts'
import { filling, resetting } from './sample.ts'

/**
 * A process of ours that gives the block to threads and takes it back, so many times as the first line says. After each
 * change it says so; of a block that was not its thread's any more when it came back for it, it says `lost`, of one that
 * was there again, `returned`. A conflict with another program is
 * told too, and tried again.
 */
const [folder = '', name = ''] = process.argv.slice(2)
const file = new FileMemoryFiles({ isTracked: async () => false }).open(folder, 'CLAUDE.md')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const changed = async (rule: ReturnType<typeof filling>) => {
  for (;;) {
    try {
      return await file.change(rule)
    } catch (problem) {
      if (!(problem instanceof MemoryFileFailure) || problem.code !== 'memory_file.conflict') throw problem
      say('conflict')
    }
  }
}

const untilFilled = async (threadKey: string): Promise<void> => {
  for (;;) {
    const filled = await changed(filling(threadKey))
    if (filled.ok) return
    if (filled.error.code !== 'memory_block.held') throw new Error(filled.error.code)
    const { threadKey: holder } = filled.error
    if (holder.startsWith(`${name}-`)) {
      // It was taken back, and an editor has put its old text over that.
      await changed(resetting(holder))
      say(`returned ${holder}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 5))
  }
}

const work = async (count: number, first: number): Promise<void> => {
  for (let round = 0; round * 2 < count; round += 1) {
    const threadKey = `${name}-${first + round}`
    await untilFilled(threadKey)
    say(`filled ${threadKey}`)
    const reset = await changed(resetting(threadKey))
    if (!reset.ok) throw new Error(reset.error.code)
    say(`${reset.value.isWritten ? 'reset' : 'lost'} ${threadKey}`)
  }
  say('done')
}

createInterface({ input: process.stdin }).once('line', (line) => {
  const [count = 0, first = 1] = line.split(' ').map(Number)
  void work(count, first).then(() => process.exit(0))
})
say('loaded')
