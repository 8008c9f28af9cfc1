import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { program as programOf } from '../support/bundle.ts'

/** A program of this folder in a process of its own, spoken to in lines. */
export interface Child extends AsyncDisposable {
  readonly pid: number
  say(line: string): void
  /** The next line. @throws when the process ends first, with what it wrote to stderr */
  hear(): Promise<string>
  /** Every line so far that nobody has heard. */
  heard(): readonly string[]
  /** Ends the process as it ends in an accident, and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** How it ended: a code or a signal. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Starts a program of this folder, or one that is named by its URL. It says nothing until it has loaded, so that what is timed is not the loading. */
export const startChild = async (
  program: string,
  args: readonly string[],
  { cwd = process.cwd(), via = [] }: { readonly cwd?: string; readonly via?: readonly string[] } = {},
): Promise<Child> => {
  const named = fileURLToPath(new URL(program, import.meta.url))
  const file = named.endsWith('.ts') ? await programOf(named) : named
  // Another program may start it, such as one that makes a container.
  const [command = '', ...words] = [...via, process.execPath, file, ...args]
  const child = spawn(command, words, { cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  const started = talkTo(child)
  const first = await started.hear()
  if (first !== 'loaded') throw new Error(`${program} began with "${first}"`)
  return started
}

const talkTo = (child: ChildProcessByStdio<Writable, Readable, Readable>): Child => {
  const lines: string[] = []
  const errors: string[] = []
  let wake = (): void => {}
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  child.stdin.on('error', () => {}) // a child that was killed reads no more
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code ?? 0)
      wake()
    })
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    wake()
  })
  const hear = async (): Promise<string> => {
    for (;;) {
      const line = lines.shift()
      if (line !== undefined) return line
      const isOver = child.exitCode !== null || child.signalCode !== null
      if (isOver && child.stdout.closed) throw new Error(`The process has ended: ${errors.join('')}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal)
    await ended
  }
  return {
    pid: child.pid ?? 0,
    say: (line) => void child.stdin.write(`${line}\n`),
    hear,
    heard: () => lines.splice(0),
    kill,
    ended,
    [Symbol.asyncDispose]: () => kill(),
  }
}
