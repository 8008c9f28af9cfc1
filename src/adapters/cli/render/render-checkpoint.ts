import type { CheckpointFacts } from '../../../domain/checkpoint/checkpoint-facts.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'

/** Facts about a checkpoint beside its text. */
export const describeCheckpoint = (checkpoint: CheckpointFacts) => {
  const { outcome, reason, characters, isCut, sections, statements, attempts, totals } = checkpoint
  return {
    checkpoint: `${outcome.replace('_', ' ')}${reason === undefined ? '' : `: ${reason}`}`,
    length: characters === undefined ? undefined : `${characters} characters${isCut === true ? ', cut' : ''}`,
    sections: sections === undefined ? undefined : sections.join(', ') || 'none',
    statements:
      statements && `${statements.cited} cited, ${statements.uncited} uncited, ${statements.miscited} miscited`,
    'asked for': attempts === undefined ? undefined : counted(attempts, 'time'),
    'checkpoint used': totals && describeTotals(totals),
  }
}

/** The usage in sum, and the cost where the runtime says it. */
export const describeTotals = ({ inputTokens, outputTokens, requests, costUsd }: UsageTotals): string =>
  [
    `${inputTokens} tokens in`,
    `${outputTokens} out`,
    ...(requests === undefined ? [] : [`${requests} requests`]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`]),
  ].join(', ')
