import { calcPrice } from '@pydantic/genai-prices'
import { defined } from '../../domain/kernel/defined.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'

/** Names that stand for whichever model of a family is current; any of the family is near enough for an estimate. */
const FAMILIES: Readonly<Record<string, string>> = {
  opus: 'claude-opus-4-5',
  opusplan: 'claude-opus-4-5',
  sonnet: 'claude-sonnet-4-5',
  haiku: 'claude-haiku-4-5',
}

/**
 * The cost of a usage by the kept list of prices, in dollars; undefined when the list does not have the model.
 *
 * An estimate: discounts, tiers of service and taxes are not in the list.
 */
export const listPrice = (model: string, used: UsageTotals): number | undefined => {
  // Gateways put the provider before the name; the size of the window stands after it.
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/\[\w+\]$/, '')
  const usage = defined({
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    cache_read_tokens: used.cacheReadTokens,
    cache_write_tokens: used.cacheWriteTokens,
  })
  return calcPrice(usage, FAMILIES[name.toLowerCase()] ?? name)?.total_price
}
