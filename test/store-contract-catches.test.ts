import { describe, expect, it } from 'vitest'
import type { Store } from '../src/entry/ports.ts'
import { type Harness, storeContract } from '../src/entry/testing.ts'
import { droppingToolCalls } from './faulty-stores/dropping-tool-calls.ts'
import { forgettingCommands, forgettingUnnamedCommands } from './faulty-stores/forgetting-commands.ts'
import { guardingVersionsOnly, startingInClosed, withoutGuard } from './faulty-stores/guards.ts'
import { countingOwnSignals, hidingTheHeld } from './faulty-stores/hiding-the-held.ts'
import { keepingEndedLeases } from './faulty-stores/keeping-ended-leases.ts'
import { keepingTokensInReceipts, keepingTokensRaw, takingDigestsForTokens } from './faulty-stores/keeping-tokens.ts'
import { leavingEndFields } from './faulty-stores/leaving-end-fields.ts'
import { forgettingOpenJobs, leavingThreadsOut } from './faulty-stores/listing-jobs-wrong.ts'
import {
  searchingByPattern,
  searchingFromTheTop,
  searchingTheWindow,
  searchingWithoutBound,
} from './faulty-stores/looking-back-wrong.ts'
import { losingCheckpoints } from './faulty-stores/losing-checkpoints.ts'
import { losingNotes } from './faulty-stores/losing-notes.ts'
import { losingReports, seeingNoTree } from './faulty-stores/losing-reports.ts'
import { renewingForAnyone } from './faulty-stores/renewing-for-anyone.ts'
import { robbingTheLiving } from './faulty-stores/robbing-the-living.ts'
import { withoutRollback } from './faulty-stores/without-rollback.ts'
import { openStore } from './support/stores.ts'

/** Runs the whole contract against a store and answers with the names of the cases that failed. */
const failuresOf = async (spoil: (store: Store) => Store): Promise<readonly string[]> => {
  const cases: { readonly name: string; readonly run: () => Promise<void> }[] = []
  const collect: Harness = { describe: (_, body) => body(), it: (name, run) => cases.push({ name, run }) }
  storeContract(async () => {
    const { store, passTime } = await openStore('memory')
    return { store: spoil(store), passTime }
  }, collect)
  const failed: string[] = []
  for (const { name, run } of cases) await run().catch(() => failed.push(name))
  return failed
}

describe('the store contract catches', () => {
  it.each([
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
    [
      'a store that compares versions only',
      guardingVersionsOnly,
      'compares everything a decision on a session stood on',
    ],
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
      'searches newest first, stops at its bounds, and goes on where it stopped',
    ],
    [
      'a store that begins every search anew',
      searchingFromTheTop,
      'searches newest first, stops at its bounds, and goes on where it stopped',
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
      'refuses the outcome of a thread that is on record, whoever holds the session by now',
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
  ])('%s', async (_, spoil, expected) => {
    expect(await failuresOf(spoil)).toContain(expected)
  })

  it('nothing in an honest store', async () => {
    expect(await failuresOf((store) => store)).toEqual([])
  })
})
