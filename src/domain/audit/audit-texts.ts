import type { TextErased, TextName } from '../audit-event.ts'
import type { Sha256 } from '../kernel/digest.ts'
import { TEXT_ERASED } from '../kernel/texts.ts'
import { isSalt, textDigest } from './audit-chain.ts'
import type { AuditProblem } from './audit-verdict.ts'

/** How many texts were compared with their digests, and how many could not be. */
export interface TextCounts {
  readonly compared: number
  /** Gone, and the log says who had them erased and why. */
  readonly erased: number
  /** Nothing can be said of them: their salts are gone, and the log does not say why. */
  readonly unchecked: number
  /** The first of those. */
  readonly firstUnchecked: readonly TextName[]
}

/** Where a text stands. */
export interface AboutText {
  readonly name: TextName
  readonly what: string
  readonly position: number
}

interface OpenText extends AboutText {
  readonly isMarked: boolean
  readonly hasSalt: boolean
}

const MOST_NAMED = 20

/**
 * Compares stored texts with their digests, and keeps account of those that cannot be compared. An erasure comes in the
 * log after the texts it is about, so what cannot be compared stays open until one names it, or the log has ended.
 */
export class TextLedger {
  readonly #sha256: Sha256
  #open = new Map<string, OpenText>()
  #named = new Set<string>()
  #compared = 0
  #erased = 0

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** The same account, which can be continued without changing this one. */
  copy(): TextLedger {
    const copy = new TextLedger(this.#sha256)
    copy.#open = new Map(this.#open)
    copy.#named = new Set(this.#named)
    copy.#compared = this.#compared
    copy.#erased = this.#erased
    return copy
  }

  get counts(): TextCounts {
    const open = [...this.#open.values()].slice(0, MOST_NAMED)
    const unchecked = this.#open.size
    return {
      compared: this.#compared,
      erased: this.#erased,
      unchecked,
      firstUnchecked: open.map(({ name }) => name),
    }
  }

  /** Compares a stored text with what the entries have of it. */
  compare(about: AboutText, token: string, stored: string): AuditProblem | undefined {
    const key = keyOf(about.name)
    const isMarked = stored === TEXT_ERASED
    if (this.#named.has(key)) return isMarked ? this.#countErased() : stillThere(about)
    const [digest, salt] = token.split(' ')
    const hasSalt = salt !== undefined && isSalt(salt)
    if (hasSalt && textDigest(salt, stored, this.#sha256) === digest) this.#compared += 1
    else if (isMarked || !hasSalt) this.#open.set(key, { ...about, isMarked, hasSalt })
    else return differs(about)
    return undefined
  }

  /** Takes an erasure. Messages and tool calls were compared before it; other rows are compared once the log has ended. */
  erase({ texts }: TextErased, position: number): AuditProblem | undefined {
    for (const name of texts) {
      const key = keyOf(name)
      if (this.#named.has(key)) continue
      this.#named.add(key)
      if (name.row !== 'message' && name.row !== 'tool call') continue
      if (this.#open.get(key)?.isMarked !== true) return stillThere({ name, what: `${name.row} ${name.id}`, position })
      this.#open.delete(key)
      this.#countErased()
    }
    return undefined
  }

  /** The problem with the texts, once all of them were compared. */
  problem(): AuditProblem | undefined {
    const open = [...this.#open.values()]
    const changed = open.find(({ hasSalt }) => hasSalt)
    if (changed !== undefined) return differs(changed)
    const [first] = open
    if (first === undefined) return undefined
    const names = open.slice(0, 3).map(({ name, what }) => `${name.field} of ${what}`)
    const more = open.length > names.length ? `, and ${open.length - names.length} more` : ''
    const count = open.length === 1 ? '1 text' : `${open.length} texts`
    const detail = `${count} cannot be checked, since the salts are gone and no erasure is on record: ${names.join(', ')}${more}.`
    return { class: 'text_unchecked', position: first.position, detail }
  }

  #countErased(): undefined {
    this.#erased += 1
  }
}

const keyOf = ({ row, id, field }: TextName): string => `${row} ${id} ${field}`

const differs = ({ what, position }: AboutText): AuditProblem => ({
  class: 'text_differs',
  position,
  detail: `A text of the stored ${what} is not the one that was logged.`,
})

const stillThere = ({ name, what, position }: AboutText): AuditProblem => ({
  class: 'text_differs',
  position,
  detail: `The log says that the ${name.field} of ${what} was erased, and it does not read so.`,
})
