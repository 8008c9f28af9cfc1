import { describe, expect, it } from 'vitest'
import { renderRootHelp, rootHelpSource } from '../../scripts/root-help.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { showRootHelp } from '../../src/adapters/cli/tree/root-help.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { spawnBaton } from './spawned.ts'

const shownOn = async (
  columns: number | undefined,
  show: (outputs: ReturnType<typeof outputsOn>) => unknown,
): Promise<string> => {
  const written: string[] = []
  const stream = {
    write: (text: string) => written.push(text),
    ...(columns !== undefined && { isTTY: true, columns }),
  }
  await show(outputsOn(stream, stream, {}))
  return written.join('')
}

const fromTree = (columns: number | undefined): Promise<string> =>
  shownOn(columns, (outputs) => runCli(['--help'], { ...outputs, version: '0', environment: {} }))

describe('the help of baton, which is written before it is asked for,', () => {
  it('is made from the command tree; otherwise run "npm run docs"', async () => {
    expect(rootHelpSource()).toBe(await renderRootHelp())
  })

  it('is wrapped and coloured as the parser would do it, at every width', async () => {
    for (const columns of [undefined, ...Array.from({ length: 140 }, (_, index) => index + 1)])
      expect(await shownOn(columns, ({ out }) => showRootHelp(out)), `${columns} columns`).toBe(await fromTree(columns))
  })

  it.each([[['--help']], [['-h']], [['help']], [[]]])('is shown by baton %j', async (words) => {
    // Standard error is not compared: a newer Node warns there when the environment has FORCE_COLOR as well.
    const { code, out } = await spawnBaton(words, { COLUMNS: '', NO_COLOR: '1' }).ended
    expect({ code, out }).toEqual({ code: 0, out: await fromTree(undefined) })
  })

  it('is not shown for a word that is empty', async () => {
    expect((await spawnBaton([''], {}).ended).code).toBe(2)
  })
})
