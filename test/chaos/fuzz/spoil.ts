import type { Chance } from '../chance.ts'
import type { MoveName } from '../crew/moves.ts'
import { type Hostile, hostile } from './hostile.ts'

/** Where in a request. */
type Path = readonly (string | number)[]

/** How a request is spoiled: the same on every store. */
export interface Spoiling {
  /** For the report: which field, and by what. */
  readonly field: string
  readonly by: string
  /** A wrong request that no store may take; otherwise it is odd, or a copy that the store need not believe. */
  readonly mustRefuse: boolean
  apply(request: object): unknown
}

/** What callers pass along so that the store need not read it; it is only ever compared with the truth. */
const isCopy = (move: MoveName, [first, ...rest]: Path): boolean => {
  if (first === 'monitor') return move !== 'startSession'
  if (rest.length === 0) return false
  if (first === 'turns') return move === 'initiateHandoff'
  return first === 'session' || first === 'handoff' || first === 'conversation'
}

/** Fields that some command has, put where they may not belong. */
const FIELDS = [
  'originalTask',
  'externalKey',
  'subject',
  'parentId',
  'workspace',
  'restartBudget',
  'sessionId',
  'agentName',
  'backend',
  'model',
  'providerSessionId',
  'parentSessionId',
  'prompt',
  'monitor',
  'leaseMs',
  'reason',
  'ifAbandoned',
  'totals',
  'turns',
  'messages',
  'usage',
  'window',
  'producedAt',
  'withholdRestart',
  'failLater',
  'traceContext',
  'kind',
  'targetAgent',
  'document',
  'priorTurn',
  'toolCalls',
  'flags',
  'checkpoint',
  'claimant',
  'claimMs',
  'continuation',
  'targetSessionId',
  'moment',
  'results',
  'child',
  'by',
  'holder',
  'session',
  'handoff',
  'conversation',
  'conversationId',
  'commandId',
  'report',
  'settings',
  'text',
  'delivery',
  'metadata',
] as const

const pathsOf = (value: unknown, at: Path = []): readonly Path[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]): readonly Path[] => {
    const path = [...at, Array.isArray(value) ? Number(key) : key]
    return [path, ...pathsOf(inner, path)]
  })
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value)

/** The same value, but for one place. What is not on the way there is shared. */
const withValue = (
  value: unknown,
  [key, ...rest]: Path,
  change: (owner: Record<string | number, unknown>, key: string | number) => void,
): unknown => {
  if (key === undefined) return value
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >
  if (rest.length === 0) change(copy, key)
  else copy[key] = withValue(copy[key], rest, change)
  return copy
}

const fieldOf = (path: Path): string => path.map((key) => (typeof key === 'number' ? '[]' : key)).join('.')

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)

const isOdd = ({ oddAs }: Hostile, path: Path, was: unknown): boolean =>
  oddAs !== undefined && (oddAs === kindOf(was) || isNote(path))

/** In a note of the caller's own any JSON is right. */
const isNote = ([first, ...rest]: Path): boolean => first === 'metadata' && rest.length > 0

/** Chooses how to spoil a request like this one. */
export const spoilingFor = (move: MoveName, request: object, chance: Chance): Spoiling => {
  const bad = hostile(chance)
  if (chance.happens(0.03)) return { field: '(request)', by: bad.name, mustRefuse: true, apply: () => bad.make() }
  const paths = pathsOf(request)
  const path = chance.one(paths) ?? []
  if (chance.happens(0.2)) {
    const field = chance.one(FIELDS) ?? 'reason'
    return {
      field: `+${field}`,
      by: bad.name,
      mustRefuse: false,
      apply: (asked) => ({ ...asked, [field]: bad.make() }),
    }
  }
  const field = fieldOf(path)
  if (chance.happens(0.15)) {
    const drop = (owner: Record<string | number, unknown>, key: string | number): void => {
      delete owner[key]
    }
    return { field, by: 'nothing', mustRefuse: false, apply: (asked) => withValue(asked, path, drop) }
  }
  const mustRefuse = !isCopy(move, path)
  if (chance.happens(0.05)) {
    const trap = (owner: Record<string | number, unknown>, key: string | number): void => {
      Object.defineProperty(owner, key, { enumerable: true, get: () => JSON.parse('no JSON') })
    }
    return { field, by: 'a getter that throws', mustRefuse, apply: (asked) => withValue(asked, path, trap) }
  }
  return {
    field,
    by: bad.name,
    mustRefuse: mustRefuse && !isOdd(bad, path, valueAt(request, path)),
    apply: (asked) =>
      withValue(asked, path, (owner, key) => {
        owner[key] = bad.make()
      }),
  }
}
