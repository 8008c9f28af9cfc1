import { startDatabases } from './test-databases.ts'

/** Starts what the tests need before the first file, and ends it after the last. */
export const setup = async (): Promise<(() => Promise<void>) | undefined> => {
  if (process.env.TEST_DATABASE_TEMPLATE !== undefined) return undefined
  const { environment, stop } = await startDatabases()
  Object.assign(process.env, environment)
  return stop
}
