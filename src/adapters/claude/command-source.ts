import { once } from 'node:events'
import { RuntimeFailure } from '../../ports/runtime-failure.ts'
import { AgentProcess, type ProcessStart } from './agent-process.ts'
import type { AgentSource } from './agent-source.ts'
import { jsonLines } from './json-lines.ts'
import { asideOf, promptOf, type SdkMessage, type SdkPrompt } from './sdk-module.ts'

/** What a command is given to read: the prompt alone, or JSON lines for as long as it works. */
export interface CommandInput {
  readonly prompt: string
  readonly isOpen: boolean
}

/** Starts the command and gives it its prompt. @throws RuntimeFailure `runtime.missing` when there is no such command */
export const openCommand = async (
  start: ProcessStart,
  { prompt, isOpen }: CommandInput,
): Promise<AgentSource<SdkMessage>> => {
  const agent = new AgentProcess(start)
  const { child } = agent
  await once(child, 'spawn').catch(async (cause: unknown) => {
    await agent.end(false)
    throw notStarted(start.command, cause)
  })
  await agent.recorded.catch(async (cause: unknown) => {
    await agent.end(false)
    throw cause
  })
  child.on('error', () => {})
  child.once('exit', async () => {
    await agent.closed()
    child.stdout.destroy()
  })
  const say = (sent: SdkPrompt): void => void child.stdin.write(`${JSON.stringify(sent)}\n`)
  if (isOpen) say(promptOf(prompt))
  else child.stdin.end(prompt)
  return {
    messages: messagesOf(agent),
    ...(isOpen && { tell: (text: string) => say(asideOf(text)) }),
    interrupt: async () => agent.signal('SIGINT'),
    finish: () => void child.stdin.end(),
    close: (hasFinished) => {
      child.stdin.end()
      return agent.end(hasFinished)
    },
    complaint: () => [exitOf(agent), agent.complaint()].filter(Boolean).join(': '),
  }
}

async function* messagesOf(agent: AgentProcess): AsyncGenerator<SdkMessage, void> {
  const output = agent.child.stdout.setEncoding('utf8')
  try {
    for await (const message of jsonLines(output)) if (isMessage(message)) yield message
  } catch {
    // The pipe was closed with the process; what it had said was read.
  }
  await agent.closed() // its output ends a little before it does, and before it is known how
}

const isMessage = (value: object): value is SdkMessage => 'type' in value && typeof value.type === 'string'

const exitOf = ({ child: { exitCode, signalCode } }: AgentProcess): string => {
  if (signalCode !== null) return `ended by ${signalCode}`
  return exitCode === null ? '' : `exit code ${exitCode}`
}

const notStarted = (command: string, cause: unknown): Error => {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code !== 'ENOENT')
    return new Error(`The command ${command} could not be started (${code ?? message}).`, { cause })
  const how = 'It is optional, and this runtime needs it: npm install -g @anthropic-ai/claude-code'
  return new RuntimeFailure('runtime.missing', `The command ${command} was not found. ${how}`, { cause })
}
