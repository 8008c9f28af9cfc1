import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import type { AgentRuntime } from '../../src/ports/agent/agent-runtime.ts'

const WINDOW_READERS = await windowReaders()

const record = (fields: object): string => JSON.stringify({ session_id: 'its-own', ...fields })

/** The lines of a program, as scenarios write them. */
const printed = (words: string): string => {
  if (words === 'an answer') {
    const content = [{ type: 'text', text: 'I have looked at it.' }]
    return `${record({ type: 'assistant', message: { id: 'answer', content } })}\n`
  }
  if (words === 'a line of 65 MiB') return `${'x'.repeat(65 * 1024 * 1024)}\n`
  if (words === 'a good result') return `${record({ type: 'result', subtype: 'success', is_error: false })}\n`
  const [, error] = /^the error "(.*)"$/.exec(words) ?? []
  if (error === undefined) throw new Error(`No program prints ${words}`)
  return `${record({ type: 'result', subtype: 'success', is_error: true, result: error })}\n`
}

/** A program that prints this in its first window, that in its second, and so on. */
export const programOf = (windows: readonly (readonly string[])[], backend: string): AgentRuntime => {
  let launched = 0
  return {
    backend,
    takesSessionId: false,
    start: (launch) => {
      const [prints = '', exitCode = '0'] = windows[launched] ?? []
      launched += 1
      const text = prints.split(', ').map(printed)
      // Long lines are written as they are needed, since nothing that long can be an argument.
      const parts = JSON.stringify(text.map((part) => (part.length > 10_000 ? part.length : part)))
      const code = `for (const part of ${parts}) process.stdout.write(part > 0 ? 'x'.repeat(part - 1) + '\\n' : part)
        process.exitCode = ${exitCode}`
      return commandRuntime({ command: [process.execPath, '-e', code], readers: WINDOW_READERS, backend }).start(launch)
    },
  }
}
