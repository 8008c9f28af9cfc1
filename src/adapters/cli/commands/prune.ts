import { counted } from '../../../domain/kernel/counted.ts'
import { DEFAULT_RETENTION_MS, retentionProblem } from '../../../domain/kernel/retention-time.ts'
import { readConfiguration } from '../../../main/configuration.ts'
import type { Store } from '../../../ports/store/store.ts'
import { pruneCommands } from '../../../services/commands/command-pruner.ts'
import { durationFlag, notTogether, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor } from '../choose/opened-store.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { toJson } from '../render/text.ts'

/** Forgets commands that nobody repeats any more. */
export const pruneCommand: Run = async (invocation) => {
  notTogether(invocation, 'older-than', 'config')
  const isDryRun = invocation.values['dry-run'] === true
  const olderThanMs = await retentionFor(invocation)
  await using opened = await openFor(invocation, { part: 'store', to: 'read' })
  const { store } = opened
  const commands = isDryRun
    ? await store.commands.countPrunable(olderThanMs)
    : await pruned(store, olderThanMs, invocation)
  const { out, values } = invocation
  if (values.json === true) return out.line(toJson({ commands, olderThanMs, isDryRun }))
  out.line(`${counted(commands, 'command')} ${isDryRun ? 'would be' : commands === 1 ? 'was' : 'were'} forgotten.`)
}

const pruned = async ({ commands }: Store, keepMs: number, { notes, interruption }: Invocation): Promise<number> => {
  const signal = interruption()
  let count = 0
  try {
    for await (const soFar of pruneCommands(commands, keepMs, signal)) {
      count = soFar
      const progress = `${counted(count, 'command')} forgotten`
      if (notes.status === undefined) notes.line(progress)
      else notes.status(progress)
    }
  } catch (problem) {
    if (!signal.aborted) throw problem
    throw new CommandNotCompleted(
      `Stopped: ${counted(count, 'command')} forgotten. Run it again for the rest.`,
      EXIT.cancelled,
    )
  } finally {
    notes.status?.('')
  }
  return count
}

const retentionFor = async (invocation: Invocation): Promise<number> => {
  const config = textFlag(invocation, 'config')
  if (config === undefined) return parsedFlag(invocation, 'older-than', age) ?? DEFAULT_RETENTION_MS
  const { commandRetentionMs } = (await readConfiguration(config)).configuration
  if (commandRetentionMs !== false) return commandRetentionMs
  throw new UsageError(`${config} says to remember commands for ever. Use --older-than to forget some nevertheless.`)
}

const age = (text: string): number => {
  const milliseconds = durationFlag(text)
  const problem = retentionProblem(milliseconds)
  if (problem !== undefined) throw new TypeError(`${problem}.`)
  return milliseconds
}
