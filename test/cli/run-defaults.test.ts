import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunProgress } from '../../src/adapters/cli/render/run-progress.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { createBatonpass, functionRuntime } from '../../src/entry/index.ts'
import { installedRuntime } from '../../src/main/runtimes.ts'
import { RuntimeFailure } from '../../src/ports/agent/runtime-failure.ts'
import { ENDS, play, script } from '../runner/played.ts'
import { folder, spawnBaton } from './spawned.ts'

const stream = (isTTY: boolean) => {
  const written: string[] = []
  return { isTTY, columns: 80, written, write: (text: string) => written.push(text) }
}

/** How often the bell rings in a run that is shown there. */
const rings = async (isTTY: boolean, isSilent: boolean): Promise<number> => {
  const stderr = stream(isTTY)
  const progress = new RunProgress(outputsOn(stream(isTTY), stderr).err, { isSilent })
  await using batonpass = await createBatonpass({ store: 'memory' })
  for (const event of (await play(batonpass, script([{ turns: ENDS }]))).events) progress.take(event)
  return stderr.written.join('').split('\u0007').length - 1
}

describe('the bell', () => {
  it.each([
    ['rings once when a run on a terminal ends', true, false, 1],
    ['is silent where nobody wants it', true, true, 0],
    ['is no part of a file or a pipe', false, false, 0],
  ] as const)('%s', async (_, isTTY, isSilent, expected) => {
    expect(await rings(isTTY, isSilent)).toBe(expected)
  })
})

describe('the runtime of a run that names none', () => {
  /** A folder with a program of that name. */
  const withProgram = (name: string): string => {
    const bin = join(folder(), 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, name), '#!/bin/sh\n')
    chmodSync(join(bin, name), 0o755)
    return bin
  }

  it('is the command claude, where the package is not installed', () => {
    const PATH = [withProgram('claude'), '/nowhere'].join(delimiter)
    expect(installedRuntime({ environment: { PATH } })).toBe('claude')
  })

  it('is refused with what each of them needs, where none is there', () => {
    const missing = () => installedRuntime({ environment: { PATH: withProgram('codex') } })
    expect(missing).toThrow(RuntimeFailure)
    for (const words of [
      '@anthropic-ai/claude-agent-sdk',
      'the command claude',
      '@openai/codex-sdk beside the command codex',
    ])
      expect(missing).toThrow(words)
  })
})

describe('--permission-mode', () => {
  it.each([
    [
      ['--runtime', 'codex', '--permission-mode', 'acceptEdits'],
      'not a permission mode of codex. Use one of: read-only, workspace-write',
    ],
    [['--runtime', 'claude', '--permission-mode', 'acceptEdit'], 'Did you mean "acceptEdits"?'],
    [['--command', 'true', '--permission-mode', 'plan'], 'a command of your own has no permission mode'],
  ])('is refused by name: %j', async (flags, problem) => {
    const { code, err } = await spawnBaton(['run', ...flags, 'Fix it'], {}).ended
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(problem) as unknown })
  })
})

describe('a window of which nobody knows the size', () => {
  const silent = () =>
    functionRuntime<number>({
      backend: 'silent',
      start: async function* () {
        yield 1
      },
      read: () => ({ events: [], texts: [{ role: 'assistant', text: 'Done.' }] }),
    })
  const warnings = async (more: object): Promise<readonly string[]> => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const { events } = await play(batonpass, silent(), more)
    expect(events[0]?.type).toBe('session:start')
    return events.flatMap((event) => (event.type === 'run:warning' ? [event.code] : []))
  }

  it.each([
    ['is told at the start', {}, ['window.not_known_yet']],
    ['is none with a limit', { contextLimit: 1_000 }, []],
    ['is none with a known model', { model: 'claude-opus-4-5' }, []],
    ['does not matter where nothing is restarted', { policy: 'advise' }, []],
  ] as const)('%s', async (_, more, expected) => {
    expect(await warnings(more)).toEqual(expected)
  })
})
