/**
 * The variables of a launch or a question. With its compaction off the command refuses every prompt locally from about
 * 177,000 of 200,000 tokens (`blocking_limit`), before the API is asked. A restart milestone above that would never be
 * reached, and no checkpoint could be asked for, so that limit is lifted; whether a request fits, the API says.
 */
export const withoutBlockingLimit = <Environment extends Readonly<Record<string, string | undefined>>>(
  environment: Environment,
): Environment & { readonly CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: string } => ({
  ...environment,
  CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000',
})
