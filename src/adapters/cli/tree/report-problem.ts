import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { ConfigurationError, unusable } from '../../../domain/run/run-configuration.ts'
import { hideSecrets } from '../../../domain/secrets/hide-secrets.ts'
import { secretValuesIn } from '../../../domain/secrets/secret-variables.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { WorktreeFailure } from '../../../ports/agent/worktrees.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { MemoryFileFailure } from '../../../ports/terminal/memory-file.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { renderProblems } from '../render/configuration-lines.ts'
import { withHints } from '../render/printed-commands.ts'
import { plain } from '../render/text.ts'
import { writeSpans } from '../terminal/style.ts'
import { hint } from './hint.ts'

/**
 * Tells a person what went wrong, without a stack, and answers with the exit status. A command that is named in it is for
 * the store that these flags chose.
 */
export const reportProblem = (problem: unknown, err: Output, values: Invocation['values'] = {}): number => {
  const { text, status } = reported(problem)
  const sentence = withHints(text, (words) => hint(words, values))
  // A failure may have passed by everything that hides secrets on the way.
  const { text: shown } = hideSecrets(sentence, { values: secretValuesIn(process.env) })
  writeSpans(err, [{ text: 'baton:', style: 'bad' }, { text: ` ${shown}` }])
  return status
}

const reported = (problem: unknown): { readonly text: string; readonly status: number } => {
  if (problem instanceof UsageError) return { text: onOneLine(problem.message), status: EXIT.usage }
  if (problem instanceof RefusedError)
    return { text: `${onOneLine(problem.message)} (${problem.code})`, status: EXIT.refused }
  if (problem instanceof CommandNotCompleted) return { text: problem.message, status: problem.status }
  if (problem instanceof ConfigurationError) {
    const text = `${unusable(problem.file)}\n${renderProblems(problem.problems)}`
    return { text, status: EXIT.refused }
  }
  if (problem instanceof StoreFailure && problem.code === 'store.missing')
    return { text: `${onOneLine(problem.message)} (${problem.code})\n${WHERE}`, status: EXIT.noStore }
  if (problem instanceof WorktreeFailure)
    return { text: `${plain(problem.message)} (${problem.code})`, status: EXIT.refused }
  const code = problem instanceof StoreFailure || problem instanceof MemoryFileFailure ? ` (${problem.code})` : ''
  return { text: `${onOneLine(describeThrown(problem))}${code}`, status: EXIT.failure }
}

const WHERE =
  'Set BATONPASS_DATABASE_URL or --database to read from a server, --data-dir to read another folder. "baton run" makes a store, and so does the first hook.'
