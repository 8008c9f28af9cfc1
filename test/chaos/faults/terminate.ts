import { onServer } from '../../support/test-databases.ts'

/** Ends every connection to a database but the one that asks. Answers with how many there were. */
export const terminateAll = async (url: string): Promise<number> => {
  const ended = await onServer(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  return ended.length
}
