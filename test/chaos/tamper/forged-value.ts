import { randomUUID } from 'node:crypto'
import type { Chance } from '../chance.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Another value of the same type, as the text that Postgres reads it from. */
export const forgedValue = (type: string, was: string | null, chance: Chance): string => {
  switch (type) {
    case 'uuid':
      return randomUUID()
    case 'boolean':
      return was === 'true' ? 'false' : 'true'
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'xid8':
      return String(Number(was ?? 0) + 1 + chance.below(3))
    case 'double precision':
      return String((Number(was ?? 0) + 0.25) % 1)
    case 'timestamp with time zone':
      return new Date(Date.parse(was ?? '2026-01-01T00:00:00Z') + 1_000 * (1 + chance.below(1e6))).toISOString()
    case 'jsonb':
      return JSON.stringify(forgedJson(was === null ? {} : (JSON.parse(was) as Json), chance))
    case 'bytea':
      return flipped(was ?? '\\x00', chance)
    case 'text[]':
      return was === '{}' ? '{no_progress}' : '{}'
    default:
      return forgedText(was ?? '', chance)
  }
}

/** A text with a letter changed, cut off, or put in its place: what a person with an editor would do. */
const forgedText = (was: string, chance: Chance): string => {
  const at = chance.below(Math.max(was.length, 1))
  const ways = [`${was} `, `${was.slice(0, at)}x${was.slice(at + 1)}`, was.slice(0, at), 'Another', was.toUpperCase()]
  return chance.one(ways.filter((text) => text !== was)) ?? 'Another'
}

const flipped = (was: string, chance: Chance): string => {
  const at = 2 + chance.below(Math.max(was.length - 2, 1))
  return `${was.slice(0, at)}${was[at] === '0' ? '1' : '0'}${was.slice(at + 1)}`
}

/** One leaf of a value changed, or a field added where there is none. */
const forgedJson = (was: Json, chance: Chance): Json => {
  if (Array.isArray(was)) {
    const items = was as readonly Json[]
    const at = chance.below(items.length)
    return items.length === 0
      ? ['forged']
      : items.map((item, index) => (index === at ? forgedJson(item, chance) : item))
  }
  if (typeof was === 'object' && was !== null) {
    const key = chance.one(Object.keys(was))
    const fields = was as { readonly [key: string]: Json }
    return key === undefined ? { forged: 1 } : { ...fields, [key]: forgedJson(fields[key] ?? null, chance) }
  }
  if (typeof was === 'number') return was + 1
  if (typeof was === 'boolean') return !was
  return was === null ? 1 : forgedText(was, chance)
}
