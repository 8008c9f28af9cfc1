/** A part of a regular expression. */
type Part =
  | { readonly type: 'one'; readonly source: string }
  | { readonly type: 'group'; readonly options: readonly (readonly Part[])[]; readonly looks: boolean }
  | { readonly type: 'repeat'; readonly of: Part; readonly least: number; readonly most: number }
  | { readonly type: 'nothing' }

const REPEAT = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y
const ONE = /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pPk][{<][^}>]*[}>]|c[A-Z]|.)|\[(?:\\.|[^\]\\])*\]|[^\\]/isy
const OPEN = /\((?:\?(?:<?([=!])|:|<\w+>))?/y

/** Reads a regular expression, as far as it takes to make texts that it has trouble with. */
const parse = (source: string): readonly (readonly Part[])[] => {
  let at = 0
  const eat = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(source) ?? undefined
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  const options = (): readonly (readonly Part[])[] => {
    const all: Part[][] = [[]]
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1
        all.push([])
        continue
      }
      all.at(-1)?.push(repeated(single()))
    }
    return all
  }
  const single = (): Part => {
    const open = eat(OPEN)
    if (open !== undefined) {
      const inside = options()
      at += 1
      return { type: 'group', options: inside, looks: open[1] !== undefined }
    }
    const [one = ''] = eat(ONE) ?? []
    return one === '' || /^(?:[\^$]|\\[bBk].*)$/.test(one) ? { type: 'nothing' } : { type: 'one', source: one }
  }
  const repeated = (of: Part): Part => {
    const found = eat(REPEAT)
    if (found === undefined) return of
    const [sign = '', from, range, to] = found
    const least = from === undefined ? (sign[0] === '+' ? 1 : 0) : Number(from)
    const most =
      from === undefined ? (sign[0] === '?' ? 1 : Infinity) : range === undefined ? least : Number(to || Infinity)
    return { type: 'repeat', of, least, most }
  }
  return options()
}

/** Characters that patterns are about; those of the pattern itself come first. */
const COMMON = [
  ...' \t\n\raA0_-.,:;"\'`\\/<>[](){}=#*+!?@$&|~^%',
  'é',
  '\u2028',
  '\ud83d\ude00',
  '\ud83d',
  '\udc00',
  '\ufffd',
  '\u200d',
  '\ufe0f',
]

/** Texts without end for one pattern: what is before, what is repeated, and what comes after. */
export interface Attack {
  readonly before: string
  readonly pump: string
  readonly after: string
}

/** An attack as a text of about this many characters. */
export const textOf = ({ before, pump, after }: Attack, length: number): string =>
  `${before}${pump.repeat(Math.ceil(length / pump.length))}${after}`

/**
 * Texts that a pattern may need more than linear time for, made from the pattern itself: for each of its repetitions what
 * leads there, then what it repeats (every character that it takes and that the rest of the pattern is about), then something
 * that does not fit.
 */
export const attacksOn = ({
  source,
  flags,
}: {
  readonly source: string
  readonly flags: string
}): readonly Attack[] => {
  const unicode = flags.replace(/[gy]/g, '')
  const own = [...new Set([...source.replace(/\\[a-zA-Z]\w*/g, ''), ...sampled(parse(source), unicode)])]
  // Blanks first: most that goes back and forth does it over blanks.
  const alphabet = [...new Set([' ', '\n', '\t', ...own, ...COMMON])].filter((character) => character !== '')
  const picked = new Map<string, readonly string[]>()
  const pick = (one: string): readonly string[] => {
    const known = picked.get(one)
    if (known !== undefined) return known
    const taking = new RegExp(`^(?:${one})$`, unicode)
    const found = alphabet.filter((character) => taking.test(character))
    picked.set(one, found)
    return found
  }
  const sampleOf = (part: Part): string => {
    if (part.type === 'nothing') return ''
    if (part.type === 'one') return pick(part.source)[0] ?? ''
    if (part.type === 'repeat') return sampleOf(part.of).repeat(Math.min(Math.max(part.least, 0), 70))
    return part.looks ? '' : sampleOfAll(part.options[0] ?? [])
  }
  const sampleOfAll = (parts: readonly Part[]): string => parts.map(sampleOf).join('')
  const attacks: Attack[] = []
  const pumpsOf = (part: Part): readonly string[] => {
    if (part.type === 'one') return pick(part.source).slice(0, 12)
    if (part.type === 'repeat') return [...pumpsOf(part.of), sampleOf({ ...part, least: 1 })]
    if (part.type === 'nothing') return []
    return part.options.flatMap((parts) => [
      sampleOfAll(parts),
      ...parts.flatMap((one) => (parts.length === 1 ? pumpsOf(one) : [])),
      ...parts.map((one, index) => (one.type === 'repeat' ? sampleOfAll(parts.toSpliced(index, 1)) : '')),
    ])
  }
  const walk = (parts: readonly Part[], before: string, after: string): void => {
    parts.forEach((part, index) => {
      const lead = before + sampleOfAll(parts.slice(0, index))
      const rest = sampleOfAll(parts.slice(index + 1)) + after
      const inner = part.type === 'repeat' ? part.of : part
      if (part.type === 'repeat' && part.most > 100)
        for (const pump of pumpsOf(part.of).filter(Boolean)) {
          for (const end of ['', '\u0001', '\n\u0001', 'x', 'x x\u2028', rest.slice(0, -1)])
            attacks.push({ before: lead, pump, after: end })
          attacks.push(
            { before: '', pump: lead + pump, after: '\u0001' },
            { before: '', pump: lead + pump + pump, after: '' },
          )
          attacks.push({ before: `${lead}${sampleOf(inner)}x`, pump, after: 'x' })
        }
      if (inner.type === 'group') for (const one of inner.options) walk(one, lead, rest)
    })
  }
  const options = parse(source)
  for (const one of options) {
    walk(one, '', '')
    const whole = sampleOfAll(one)
    for (const pump of [whole, whole.slice(0, -1), whole.slice(0, Math.ceil(whole.length / 2))])
      if (pump !== '') attacks.push({ before: '', pump, after: '\u0001' }, { before: ' ', pump, after: '' })
  }
  for (const pump of alphabet) attacks.push({ before: '', pump, after: '' }, { before: 'x', pump, after: '\u0001' })
  const seen = new Set<string>()
  return attacks.filter((attack) => {
    const name = JSON.stringify(attack)
    return !seen.has(name) && seen.add(name)
  })
}

/** The characters that stand for the classes of a pattern. */
const sampled = (options: readonly (readonly Part[])[], flags: string): readonly string[] => {
  const from = (part: Part): readonly string[] => {
    if (part.type === 'one') {
      const taking = new RegExp(`^(?:${part.source})$`, flags)
      return COMMON.filter((character) => taking.test(character)).slice(0, 2)
    }
    if (part.type === 'repeat') return from(part.of)
    return part.type === 'group' ? sampled(part.options, flags) : []
  }
  return options.flatMap((parts) => parts.flatMap(from))
}
