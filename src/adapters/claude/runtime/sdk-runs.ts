import { defined } from '../../../domain/kernel/defined.ts'
import type { Launch } from '../../../ports/agent/agent-runtime.ts'
import { checkDirectory } from './claude-process.ts'
import { ClaudeRun } from './claude-run.ts'
import { type AgentSdk, loadAgentSdk, type SdkMessage, type SdkOwnOptions, type SdkPrompt } from './sdk-module.ts'
import { openQuery } from './sdk-source.ts'

/** Begins runs with the SDK, which is loaded by its name with the first of them unless it is given. */
export const sdkRuns = <Message extends SdkMessage>(given: AgentSdk<Message> | undefined, passesPartials: boolean) => {
  const sdk = once(async () => given ?? loadAgentSdk<Message>())
  return (
    prompt: SdkPrompt,
    options: SdkOwnOptions,
    { signal, onProcess }: Pick<Launch, 'signal' | 'onProcess'>,
  ): ClaudeRun<Message> =>
    new ClaudeRun<Message>({
      signal,
      passesPartials,
      isResumed: options.resume !== undefined,
      open: async () => {
        const loaded = await sdk()
        checkDirectory(options.cwd)
        return openQuery(loaded, prompt, { ...options, ...defined({ onProcess }) })
      },
    })
}

/** A package that could not be loaded is looked for again: it may have been installed since. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    made.catch(() => {
      made = undefined
    })
    return made
  }
}
