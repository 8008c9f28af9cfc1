import { quoted } from '../../../processes/quoted.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { maskedAddress } from './store-name.ts'

const AFTER = '--after'
const ADDRESS = '--database'

/** The command that was typed, with the place to continue at: a whole line, to be typed as it stands. */
export const continued = ({ argv }: Pick<Invocation, 'argv'>, cursor: string): string => {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const flags = argv.slice(0, end).filter((word, at) => {
    const before = at === 0 ? '' : argv[at - 1]
    return word !== AFTER && !word.startsWith(`${AFTER}=`) && before !== AFTER
  })
  const safe = flags.map((word, at) => (flags[at - 1] === ADDRESS ? maskedAddress(word) : withoutSecret(word)))
  return ['baton', ...safe, AFTER, cursor, ...argv.slice(end)].map(quoted).join(' ')
}

/** An address may have a password in it, and what is printed is kept in places that were not made for one. */
const withoutSecret = (word: string): string =>
  word.startsWith(`${ADDRESS}=`) ? `${ADDRESS}=${maskedAddress(word.slice(ADDRESS.length + 1))}` : word

/** A sentence in which the commands between quotation marks name the store as well. */
export const withHints = (sentence: string, hint: Invocation['hint']): string =>
  sentence.replaceAll(/"(baton [^"\n]+)"/g, (_, words: string) => `"${hint(words)}"`)
