import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { endGroup, signalGroup } from '../../processes/process-group.ts'

/** After TERM and before KILL. The command needs a moment: it ends its tools, which run in groups of their own. */
const GRACE_MS = 2_500

/** Ends a group and what it started: asks first, then insists. Returns at once when nothing of it is left. */
export const endTree = (group: number): Promise<void> => endGroup(group, { graceMs: GRACE_MS, insist: killTree })

const killTree = async (group: number): Promise<void> => {
  // Looked for while their parent is there: once it is killed, nothing says whose they were.
  const children = await descendantsOf(group)
  signalGroup(group, 'SIGKILL')
  for (const child of children) if (!signalGroup(child, 'SIGKILL')) signalOne(child)
}

const signalOne = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended with the others
  }
}

const run = promisify(execFile)

const descendantsOf = async (root: number): Promise<readonly number[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' }))
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found = new Set([root])
  // A child may stand before its parent, so this goes on until nothing new is found.
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, parent] of pairs) if (pid && parent && found.has(parent)) found.add(pid)
  }
  found.delete(root)
  return [...found]
}
