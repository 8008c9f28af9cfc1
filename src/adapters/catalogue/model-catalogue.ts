import { calcPrice } from '@pydantic/genai-prices'
import { defined } from '../../domain/kernel/defined.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'

const SUFFIX = /\[(\d+)([mk])\]$/i
const MULTIPLES: Readonly<Record<string, number>> = { m: 1_000_000, k: 1_000 }

/** A cap on what the catalogue says, for models whose plain window is smaller than the largest that can be asked for. */
interface PlainWindow {
  readonly models: RegExp
  readonly tokens: number
}

/** `test/agents` holds these and the catalogue against what the installed command says. In doubt the smaller counts. */
const PLAIN_WINDOWS: readonly PlainWindow[] = [
  // A million only when it is asked for, as `…[1m]`.
  { models: /^claude-(opus|sonnet)-4[-.]6(?!\d)/, tokens: 200_000 },
  // The catalogue has the hard limit, others the one that Codex keeps to.
  { models: /^gpt-(5\.[4-9]|6)(?!\d)/, tokens: 272_000 },
]

/** Behind a cloud, newer models may have less than the million that their makers give them. */
const IN_A_CLOUD = 200_000
const BEDROCK = /^(?:[a-z-]+\.)?anthropic\.(claude-.+?)(?:-v\d+)?(?::\d+)?$/
const VERTEX = /^(claude-[^@]+)@/

/**
 * The size that a model's window is believed to have: what the name itself says, else what the catalogue says of the
 * plain model.
 *
 * A belief is an upper bound. The runtime's own word comes before it, and what is seen in a window raises it.
 */
export const believedWindow = (model: string): WindowSize | undefined => {
  const suffix = SUFFIX.exec(model)
  const multiple = MULTIPLES[suffix?.[2]?.toLowerCase() ?? '']
  if (suffix !== null && multiple !== undefined) {
    const tokens = Number(suffix[1]) * multiple
    return tokens > 0 ? { tokens, source: 'suffix' } : undefined
  }
  // Gateways put the provider before the name.
  const given = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const inCloud = (BEDROCK.exec(given) ?? VERTEX.exec(given))?.[1]
  const name = inCloud ?? given
  const listed = calcPrice({ input_tokens: 1, output_tokens: 1 }, name)?.model.context_window
  if (listed === undefined) return undefined
  const plain = PLAIN_WINDOWS.find(({ models }) => models.test(name))?.tokens ?? listed
  return { tokens: Math.min(listed, plain, inCloud === undefined ? listed : IN_A_CLOUD), source: 'catalogue' }
}

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
