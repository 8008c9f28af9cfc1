import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { ConfigurationError } from '../../domain/run/configuration.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store-failure.ts'
import { WorktreeFailure } from '../../ports/worktrees.ts'
import type { Output } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { EndedOtherwise, UsageError } from './problems.ts'
import { renderProblems } from './render-configuration.ts'
import { plain } from './render-text.ts'

/** Tells a person what went wrong, without a stack, and answers with the exit status. */
export const report = (problem: unknown, err: Output): number => {
  if (problem instanceof UsageError) {
    err.line(`baton: ${onOneLine(problem.message)}`)
    return EXIT.usage
  }
  if (problem instanceof RefusedError) {
    err.line(`baton: ${onOneLine(problem.message)} (${problem.code})`)
    return EXIT.refused
  }
  if (problem instanceof EndedOtherwise) {
    err.line(`baton: ${problem.message}`)
    return problem.status
  }
  if (problem instanceof ConfigurationError) {
    err.line(`baton: The configuration cannot be used.\n${renderProblems(problem.problems)}`)
    return EXIT.refused
  }
  if (problem instanceof StoreFailure && problem.code === 'store.missing') {
    err.line(`baton: ${onOneLine(problem.message)} (${problem.code})\n${WHERE}`)
    return EXIT.noStore
  }
  if (problem instanceof WorktreeFailure) {
    err.line(`baton: ${plain(problem.message)} (${problem.code})`)
    return EXIT.refused
  }
  const code = problem instanceof StoreFailure ? ` (${problem.code})` : ''
  err.line(`baton: ${onOneLine(describeThrown(problem))}${code}`)
  return EXIT.failure
}

const WHERE =
  'Set DATABASE_URL or --database to read from a server, --data-dir to read another folder. "baton demo" makes a store.'
