/**
 * The variables of a question, beside those of a launch. With its compaction off the command refuses every prompt locally
 * from about 177,000 of 200,000 tokens (`blocking_limit`), before the API is asked. A question is one last request that
 * adds little, so that limit is lifted for it; whether it fits, the API says.
 */
export const questionEnvironment = <Environment extends Readonly<Record<string, string | undefined>>>(
  environment: Environment,
): Environment & { readonly CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: string } => ({
  ...environment,
  CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000',
})
