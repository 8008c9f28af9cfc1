import { isRecord } from '../../domain/kernel/record.ts'
import { hiddenInAll, TEXT_NOT_LOOKED_AT } from '../../domain/secrets/hidden-text.ts'
import { hideSecrets } from '../../domain/secrets/hide-secrets.ts'
import { secretValuesIn } from '../../domain/secrets/secret-variables.ts'
import type { TerminalPayload } from '../../ports/terminal/wire.ts'
import { readOwnFile } from '../files/own-files.ts'

/** How a hook hides secrets, as the service has written it down: a hook reads no configuration. */
interface Rules {
  readonly isOff: boolean
  /** Whether the person has more rules, which only the service can apply. */
  readonly hasMore: boolean
}

/** Without a file, or with one that is no use, the built-in rules hold. */
const rulesIn = (folder: string): Rules => {
  try {
    const rules: unknown = JSON.parse(readOwnFile(`${folder}/redact.json`, 4_096) ?? '{}')
    if (isRecord(rules)) return { isOff: rules.state === 'off', hasMore: rules.hasOwnRules === true }
  } catch {
    // the built-in rules, as below
  }
  return { isOff: false, hasMore: false }
}

/** Hides the secrets in what a hook passes on, and counts them. */
export class HiddenPayload {
  readonly #rules: Rules
  readonly #values: readonly string[]
  #hidden = 0

  constructor(folder: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#rules = rulesIn(folder)
    this.#values = this.#rules.isOff ? [] : secretValuesIn(environment)
  }

  readonly hide = (text: string): string => {
    if (this.#rules.isOff) return text
    try {
      const { text: shown, hidden } = hideSecrets(text, { values: this.#values })
      this.#hidden += hiddenInAll(hidden)
      return shown
    } catch {
      return TEXT_NOT_LOOKED_AT
    }
  }

  /** The input with how much was hidden in it. */
  counted(payload: TerminalPayload): TerminalPayload {
    return this.#hidden === 0 ? payload : { ...payload, hidden_secrets: this.#hidden }
  }

  /** The part that may stand in a file until the service has it. What only the service can look through is left to the transcript. */
  forSpool(payload: TerminalPayload): TerminalPayload {
    if (!this.#rules.hasMore) return payload
    const { prompt: _, ...rest } = payload
    return rest
  }
}
