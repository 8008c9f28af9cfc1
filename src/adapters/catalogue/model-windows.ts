import { calcPrice } from '@pydantic/genai-prices'
import type { WindowSize } from '../../domain/context-pressure.ts'

const SUFFIX = /\[(\d+)([mk])\]$/i
const MULTIPLES: Readonly<Record<string, number>> = { m: 1_000_000, k: 1_000 }

/**
 * How large a model's window is believed to be: what the name itself says, else what the catalogue says.
 *
 * A belief is an upper bound. The runtime's own word comes before it, and what is seen in a window raises it.
 */
export const believedWindow = (model: string): WindowSize | undefined => {
  const suffix = SUFFIX.exec(model)
  const multiple = MULTIPLES[suffix?.[2]?.toLowerCase() ?? '']
  if (suffix !== null && multiple !== undefined) return { tokens: Number(suffix[1]) * multiple, source: 'suffix' }
  // Gateways put the provider before the name.
  const name = model.slice(model.lastIndexOf('/') + 1)
  const tokens = calcPrice({ input_tokens: 1, output_tokens: 1 }, name)?.model.context_window
  return tokens === undefined ? undefined : { tokens, source: 'catalogue' }
}
