import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startAgent } from '../../src/processes/agent-child.ts'
import { Child, type ChildStart } from '../../src/processes/child.ts'
import { isTaken } from '../../src/processes/process-table.ts'
import type { TextLine } from '../../src/processes/text-lines.ts'

const HOW = { env: process.env, graceMs: 300, atExit: 'SIGKILL' } as const
const node = (code: string): Child => new Child({ ...HOW, command: [process.execPath, '-e', code] })
const shell = (command: string, more: Partial<ChildStart> = {}): Child => new Child({ ...HOW, command, ...more })

const allOf = async (lines: AsyncIterable<TextLine>): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const line of lines) found.push(String(line))
  return found.filter((line) => line !== '')
}

/** Whether a process has gone within a few seconds. */
const isGone = async (pid: number): Promise<boolean> => {
  for (let look = 0; look < 100 && isTaken(pid); look += 1) await pause(50)
  return !isTaken(pid)
}

describe('a child process', () => {
  it('has every line read, by a reader who is slower than the process lives', async () => {
    const child = node("for (let i = 0; i < 60; i += 1) console.log(String(i).padStart(1_000, '0'))")
    const read: string[] = []
    for await (const line of child.lines(10_000)) {
      if (read.length === 0) await child.exited.then(() => pause(1_500))
      read.push(String(line))
    }
    expect(read.filter((line) => line !== '').map(Number)).toEqual(Array.from({ length: 60 }, (_, index) => index))
    expect(await child.exited).toEqual({ code: 0, signal: null })
    await child.close()
  })

  it('is not waited for when a process that fled holds its pipe', async () => {
    const child = shell('setsid sleep 30 & echo $!')
    const [pid = ''] = await allOf(child.lines(100))
    expect(Number(pid)).toBeGreaterThan(0)
    process.kill(Number(pid), 'SIGKILL')
    await child.close()
  })

  it('is killed where it does not hear TERM, with what it started in a group of its own', async () => {
    const child = shell("trap '' TERM; setsid sleep 30 & echo $!; while :; do sleep 0.1; done")
    const lines = child.lines(100)
    const { value: pid } = await lines.next()
    await child.end()
    expect(await child.exited).toMatchObject({ signal: 'SIGKILL' })
    expect(await isGone(Number(pid))).toBe(true)
    await child.close()
  })

  it('ends at TERM where it can put its things in order', async () => {
    const child = shell("trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done", { graceMs: 5_000 })
    const lines = child.lines(100)
    await lines.next()
    await child.end()
    expect(await allOf(lines)).toEqual(['bye'])
    expect(await child.exited).toEqual({ code: 3, signal: null })
    await child.close()
  })

  it('that is not there says so, and leaves nothing behind', async () => {
    const before = process.listenerCount('exit')
    const child = new Child({ ...HOW, command: ['no-such-program-at-all'] })
    await expect(child.started).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await child.exited).toEqual({ code: null, signal: null })
    await child.close()
    expect(process.listenerCount('exit')).toBe(before)
  })

  it('shares one listener for our own exit with all others', async () => {
    const before = process.listenerCount('exit')
    const children = Array.from({ length: 12 }, () => shell('sleep 30'))
    await Promise.all(children.map(({ started }) => started))
    expect(process.listenerCount('exit')).toBe(before + 1)
    await Promise.all(children.map((child) => child.close()))
    expect(process.listenerCount('exit')).toBe(before)
  })
})

describe('the process of an agent', () => {
  it('is on record before it is given work, by its mark and its leader', async () => {
    const told: unknown[] = []
    const { child, recorded } = startAgent({
      ...HOW,
      command: 'read line; echo "$BATONPASS_LAUNCH $line"',
      onProcess: (identity) => void told.push(identity),
    })
    await recorded
    child.process.stdin.end('go\n')
    const [said = ''] = await allOf(child.lines(1_000))
    const [mark, line] = said.split(' ')
    expect(line).toBe('go')
    expect(told).toMatchObject([{ mark, leader: { pid: child.pid } }])
    await child.close()
  })

  it('is given none when it could not be recorded', async () => {
    const refuse = async () => {
      throw new Error('superseded')
    }
    const { child, recorded } = startAgent({ ...HOW, command: 'sleep 30', onProcess: refuse })
    await expect(recorded).rejects.toThrow('superseded')
    await child.close()
    expect(await child.exited).toMatchObject({ signal: 'SIGTERM' })
  })
})
