import { badAddress } from '../../place/bad-address.ts'

/** The kinds that `target_session_attrs` of libpq can ask for. */
const KINDS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const

/** Which server of several is wanted. */
export type SessionKind = (typeof KINDS)[number]

/** The use of servers: everything, or questions that change nothing. */
export type Use = 'writing' | 'reading'

/** How a server takes sessions. */
export interface ServerSessionFacts {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

/** A server that takes writes is never left to chance, unless only one is named. */
export const sessionKind = (
  named: string | undefined,
  { use, count }: { readonly use: Use; readonly count: number },
): SessionKind => {
  const otherwise = use === 'writing' && count > 1 ? 'read-write' : 'any'
  const kind = KINDS.find((one) => one === (named ?? otherwise))
  if (kind === undefined) throw badAddress(`has a target_session_attrs that is not one of ${KINDS.join(', ')}`)
  if (use === 'reading') return kind
  if (kind === 'any' && count > 1)
    throw badAddress(
      'names several servers and target_session_attrs=any, and a standby among them takes no writes. ' +
        'Write target_session_attrs=read-write, or leave it out',
    )
  if (kind === 'any' || kind === 'read-write' || kind === 'primary') return kind
  throw badAddress(
    `asks for target_session_attrs=${kind}, and Batonpass writes to its store. Write read-write, or leave it out; ` +
      'the option "readFrom" takes the address of a standby, for questions about history and audit',
  )
}

/** Why a server is not the one that is wanted; nothing if it is. */
export const misfit = (wanted: SessionKind, { isStandby, isReadOnly }: ServerSessionFacts): string | undefined => {
  if (wanted === 'primary' || wanted === 'read-write') {
    if (isStandby) return 'is a standby'
    return wanted === 'read-write' && isReadOnly ? 'is set read-only' : undefined
  }
  if (wanted === 'standby') return isStandby ? undefined : 'is no standby'
  if (wanted === 'read-only') return isReadOnly ? undefined : 'takes writes'
  return undefined
}
