import type { Store } from '../../src/entry/ports.ts'
import { droppingToolCalls } from './dropping-tool-calls.ts'
import { forgettingCommands, forgettingUnnamedCommands } from './forgetting-commands.ts'
import { guardingVersionsOnly, startingInClosed, withoutGuard } from './guards.ts'
import { countingOwnSignals, hidingTheHeld } from './hiding-the-held.ts'
import { keepingEndedLeases } from './keeping-ended-leases.ts'
import { keepingTokensInReceipts, keepingTokensRaw, takingDigestsForTokens } from './keeping-tokens.ts'
import { leavingEndFields } from './leaving-end-fields.ts'
import { forgettingOpenJobs, leavingThreadsOut } from './listing-jobs-wrong.ts'
import {
  searchingByPattern,
  searchingFromTheTop,
  searchingTheWindow,
  searchingWithoutBound,
} from './looking-back-wrong.ts'
import { losingCheckpoints } from './losing-checkpoints.ts'
import { losingNotes } from './losing-notes.ts'
import { losingReports, seeingNoTree } from './losing-reports.ts'
import { renewingForAnyone } from './renewing-for-anyone.ts'
import { robbingTheLiving } from './robbing-the-living.ts'
import { withoutRollback } from './without-rollback.ts'

/** A fault that is planted in a store, and the case of the contract that must catch it. */
export type PlantedFault = readonly [what: string, spoil: (store: Store) => Store, caseName: string]

/**
 * Every planted fault with the case that is there to catch it. `npm test` runs that case alone; the nightly run plays the
 * whole contract against every fault, and `caught-by.json` lists every case that fails then.
 */
export const FAULTS: readonly PlantedFault[] = [
  ['a store without rollback', withoutRollback, 'keeps nothing of a unit whose last change meets a moved version'],
  ['a store without a guard', withoutGuard, 'refuses a session write made from a version that has moved on'],
  [
    'a store that drops tool calls',
    droppingToolCalls,
    'reads back exactly what was initiated, tool calls included and in order',
  ],
  [
    'a store that leaves end fields after a cancel',
    leavingEndFields,
    'leaves nothing over when a handoff is cancelled',
  ],
  ['a store that forgets command ids', forgettingCommands, 'does not double a command whose reply was lost'],
  [
    'a store that forgets commands nobody named',
    forgettingUnnamedCommands,
    'answers from the decision it sent when a reply is lost within the call, and doubles nothing',
  ],
  [
    'a store that answers a repeated command with a token',
    keepingTokensInReceipts,
    'keeps digests, and no token in anything that can be read',
  ],
  [
    'a store that keeps tokens as they are',
    keepingTokensRaw,
    'keeps digests, and no token in anything that can be read',
  ],
  [
    'a store that takes a digest for the token',
    takingDigestsForTokens,
    'takes nothing from a caller that has read the digest',
  ],
  ['a store that renews for anyone', renewingForAnyone, 'lets nobody else renew, and changes nothing then'],
  [
    'a store that lists leases of sessions that ended',
    keepingEndedLeases,
    'ends with the session, or when it is paused by hand',
  ],
  [
    'a store that robs a holder who lives',
    robbingTheLiving,
    'undoes a take-over when the holder is heard of after the facts were read',
  ],
  [
    'a store that loses checkpoints',
    losingCheckpoints,
    'keeps what goes with a handoff through every later step, and passes the continuation on',
  ],
  ['a store that compares versions only', guardingVersionsOnly, 'compares everything a decision on a session stood on'],
  ['one that does so for handoffs', guardingVersionsOnly, 'compares everything a decision on a handoff stood on'],
  ['a store that loses notes', losingNotes, 'reads back exactly the note of a conversation, a session and a handoff'],
  [
    'a store that starts sessions in closed conversations',
    startingInClosed,
    'closes or starts, never both, however many try',
  ],
  [
    'a store that hides paused and held sessions',
    hidingTheHeld,
    'lists what is active, paused or held, newest first, and nothing that has ended',
  ],
  [
    'a store that lists no job from before that has not ended',
    forgettingOpenJobs,
    'lists what began, ended or was opened since then, and what has not ended, newest first',
  ],
  [
    'a store that leaves the threads of a job out',
    leavingThreadsOut,
    'tells of a job with its threads, wherever in them something happened',
  ],
  [
    'a store that forgets the signals of predecessors',
    countingOwnSignals,
    'counts what it is still to be told, of its predecessors too, up to a bound',
  ],
  [
    'a store that searches back without a bound',
    searchingWithoutBound,
    'searches newest first, stops at its bounds, and continues where it stopped',
  ],
  [
    'a store that begins every search anew',
    searchingFromTheTop,
    'searches newest first, stops at its bounds, and continues where it stopped',
  ],
  [
    'a store that searches by pattern',
    searchingByPattern,
    'finds words anywhere in a text, with A to Z in either case and everything else as it is',
  ],
  [
    'a store that searches the window itself',
    searchingTheWindow,
    'leaves out of a search what the window of the session holds',
  ],
  [
    'a store that loses which thread is reported',
    losingReports,
    'refuses the outcome of a thread that is on record, also when another holds the session by now',
  ],
  [
    'one that lists such a thread again',
    losingReports,
    'lists the delegated threads that wait, oldest first, each with the latest session of its child',
  ],
  [
    'a store that sees one conversation for a tree',
    seeingNoTree,
    'says how deep a conversation is, and what its whole tree has delegated and cost',
  ],
]
