import type { Finding } from '../../../ports/system/health-check.ts'
import { FUNCTIONS_VERSION, quotedName } from '../statements/database.ts'
import type { ExaminedStore } from './examined-store.ts'

interface Feed {
  readonly number: number
  /** When this server began the generation; nothing while it has written no entry. */
  readonly since: string | null
  readonly isEmpty: boolean
  readonly isNamed: boolean
  readonly isStandby: boolean
}

/** Whether the store was brought here from another server: the feed of changes goes by what a server counts. */
export const feedStanding = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !(await store.isMigrated())) return []
  const schema = quotedName(store.database.schema)
  const [feed] = await store.ask<Feed>(
    `select number, to_char(began_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
       not exists (select from ${schema}.audit_entries) as "isEmpty", ${schema}.feed_server() is not null as "isNamed", pg_is_in_recovery() as "isStandby"
     from ${schema}.feed_v${FUNCTIONS_VERSION}()`,
  )
  return feed === undefined ? [] : [feedFinding(feed)]
}

const feedFinding = ({ number, since, isEmpty, isNamed, isStandby }: Feed): Finding => {
  if (isEmpty) return { result: 'ok', text: 'the feed of changes is empty' }
  if (since === null)
    return {
      result: 'warning',
      text: `the store came here from another server, and nothing was written since; its feed of changes is in generation ${number}`,
      repair:
        'If that was meant, nothing is to be done: the next write begins the generation. A consumer of the feed whose cursor ' +
        'is refused with feed.moved continues from the cursor in the refusal.',
    }
  const text = `the feed of changes is in generation ${number}, since ${since}`
  if (isNamed || isStandby) return { result: 'ok', text }
  return {
    result: 'warning',
    text: `${text}; this server does not say which one it is, so a restore is only noticed where it has counted less`,
    repair: 'Let the owner of the schema execute pg_control_system(), if your provider allows it.',
  }
}
