import type { Finding } from '../../../ports/system/health-check.ts'
import type { ExaminedStore } from './examined-store.ts'

interface Standing {
  readonly durability: string
  readonly timeline: number | null
}

/** Every promotion of a standby, and every restore to a moment, begins a new timeline. */
const STANDING = `select current_setting('synchronous_commit') as durability,
  case when pg_is_in_recovery() then null
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer end as timeline`

/**
 * Commits that were acknowledged and lost, as far as they can be seen: the setting that allows it, and whether it may have
 * happened. Whether it did, only a process knows that was answered.
 */
export const lostCommits = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !store.isServer) return []
  const [standing] = await store.ask<Standing>(STANDING)
  if (standing === undefined) return []
  return [durability(standing), history(standing)]
}

const durability = ({ durability: setting }: Standing): Finding =>
  setting === 'off'
    ? {
        result: 'warning',
        text: 'the server acknowledges commits before they are on its disk (synchronous_commit is off): a crash of it can lose the last ones',
        repair: 'alter role ... set synchronous_commit = on, for the role of this address.',
      }
    : { result: 'ok', text: `a commit is acknowledged once it is on disk (synchronous_commit is ${setting})` }

const history = ({ timeline }: Standing): Finding =>
  timeline === null || timeline <= 1
    ? { result: 'ok', text: 'no standby has taken over here, and the server was not restored to a moment' }
    : {
        result: 'ok',
        text: `a standby took over, or the server was restored to a moment (timeline ${timeline}); whether commits were lost then cannot be seen from here: processes that were answered fail with store.set_back`,
      }
