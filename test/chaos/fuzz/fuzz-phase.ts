import { join } from 'node:path'
import { readEverything } from '../check/fold.ts'
import type { Setting } from '../fault-phase.ts'
import { Progress } from '../progress.ts'
import type { Row } from '../row.ts'
import { Episode, type Finding } from './episode.ts'
import { type FuzzStore, openStores } from './fuzz-store.ts'

/** Sends wrong requests to every store, and looks at everything that they left. */
export const runFuzz = async ({ server, options, folder, signal }: Setting): Promise<Row> => {
  const { seed, wrongRequests } = options
  const stores = await openStores(await server.database('fuzz'), join(folder, 'fuzz'), options)
  const found = new Map<Finding, number>()
  const note = (finding: Finding): unknown => found.set(finding, (found.get(finding) ?? 0) + 1)
  const sum = { requests: 0, wrong: 0, refused: 0 }
  try {
    using _ = new Progress(() => `fuzz       ${sum.wrong} of ${wrongRequests} wrong requests  ${found.size} findings`)
    for (let number = 0; sum.wrong < wrongRequests && number <= wrongRequests && !signal.aborted; number += 1) {
      const episode = new Episode(stores, seed, number)
      await episode.run()
      for (const key of ['requests', 'wrong', 'refused'] as const) sum[key] += episode[key]
      episode.findings.forEach(note)
    }
    const verdicts = await Promise.all(stores.map(verifyAll))
    return {
      phase: 'fuzz',
      cells: {
        faults: sum.wrong,
        invoked: sum.requests,
        refused: sum.refused,
        verify: verdicts.map(({ says }) => says).join(', '),
      },
      problems: [
        ...(sum.wrong < wrongRequests ? [`only ${sum.wrong} wrong requests, ${wrongRequests} are needed`] : []),
        ...[...found].sort().map(([finding, count]) => `${finding}, ${count} times`),
        ...verdicts.flatMap(({ problems }) => problems),
      ],
    }
  } finally {
    for (const { store } of stores) await store[Symbol.asyncDispose]()
  }
}

/** Verifies and reads everything there is. */
const verifyAll = async ({
  name,
  audit,
  store,
}: FuzzStore): Promise<{ readonly says: string; readonly problems: readonly string[] }> => {
  const sum = { intact: 0, broken: 0, unreadable: 0 }
  try {
    for await (const { intact, conversationId } of audit.verifyAll()) {
      sum[intact ? 'intact' : 'broken'] += 1
      sum.unreadable += await readEverything(store, conversationId).then(
        () => 0,
        () => 1,
      )
    }
  } catch (problem) {
    return { says: `${name} broke`, problems: [`${name}: verifying everything threw ${String(problem)}`] }
  }
  const problems = [
    ...(sum.broken === 0 ? [] : [`${name}: ${sum.broken} conversations do not verify`]),
    ...(sum.unreadable === 0 ? [] : [`${name}: ${sum.unreadable} conversations cannot be read`]),
  ]
  return { says: `${name} ${sum.intact} intact`, problems }
}
