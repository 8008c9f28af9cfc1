import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { TestContext } from 'node:test'

/** Runs a program in a process of its own until it is killed. @returns what it showed */
export const runUntilKilled = async (
  t: TestContext,
  program: string,
  args: readonly string[],
  onStart: (kill: () => void) => void,
): Promise<string> => {
  const options = { stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] }
  const runner = spawn(process.execPath, ['--import', 'tsx', program, ...args], options)
  const kill = (): void => void runner.kill('SIGKILL')
  t.after(kill)
  onStart(kill)
  let shown = ''
  const ended = new Promise<NodeJS.Signals | null>((resolve) => runner.once('close', (_, signal) => resolve(signal)))
  for await (const chunk of runner.stdout.setEncoding('utf8')) shown += chunk
  equal(await ended, 'SIGKILL', `the runner was killed, and not over: ${shown.slice(-300)}`)
  // The last line may have been cut off.
  return shown.slice(0, shown.lastIndexOf('\n') + 1)
}
