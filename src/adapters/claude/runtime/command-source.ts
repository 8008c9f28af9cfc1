import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import type { CutLine } from '../../../processes/text-lines.ts'
import type { AgentSource } from './agent-source.ts'
import { ClaudeProcess, type ClaudeStart } from './claude-process.ts'
import { MOST_CHARACTERS, objectIn } from './json-lines.ts'
import { asideOf, type SdkMessage, type SdkPrompt, sdkPrompt } from './sdk-module.ts'

/** The input of a command: the prompt alone, or JSON lines for as long as it works. */
export interface CommandInput {
  readonly prompt: string
  readonly isOpen: boolean
}

/** Starts the command and gives it its prompt. @throws RuntimeFailure `runtime.missing` when there is no such command */
export const openCommand = async (
  start: ClaudeStart,
  { prompt, isOpen }: CommandInput,
): Promise<AgentSource<SdkMessage>> => {
  const agent = new ClaudeProcess(start)
  const { child } = agent
  await child.started.catch(async (cause: unknown) => {
    await agent.end(false)
    throw notStarted(start.command, cause)
  })
  await agent.recorded.catch(async (cause: unknown) => {
    await agent.end(false)
    throw cause
  })
  const { stdin } = child.process
  const say = (sent: SdkPrompt): void => void stdin.write(`${JSON.stringify(sent)}\n`)
  if (isOpen) say(sdkPrompt(prompt))
  else stdin.end(prompt)
  return {
    messages: messagesOf(agent),
    ...(isOpen && { tell: (text: string) => say(asideOf(text)) }),
    interrupt: async () => child.signal('SIGINT'),
    finish: () => void stdin.end(),
    close: (hasFinished) => {
      stdin.end()
      return agent.end(hasFinished)
    },
    complaint: () => [exitOf(agent), agent.complaint()].filter(Boolean).join(': '),
  }
}

async function* messagesOf({ child }: ClaudeProcess): AsyncGenerator<SdkMessage | CutLine, void> {
  for await (const line of child.lines(MOST_CHARACTERS)) {
    if (typeof line !== 'string') yield line
    for (const message of objectIn(line)) if (isMessage(message)) yield message
  }
  await child.closed() // its output ends a little before it does, and before it is known how
}

const isMessage = (value: object): value is SdkMessage => 'type' in value && typeof value.type === 'string'

const exitOf = ({ child }: ClaudeProcess): string => {
  const { exitCode, signalCode } = child.process
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
