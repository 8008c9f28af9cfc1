import { enterCleanRoom, leaveCleanRoom } from './clean-room.ts'

// Loaded by the test runners before a test file, in the process of that file. The runner's own process stays outside.
if (process.env.NODE_TEST_CONTEXT !== undefined) enterCleanRoom()
if (process.env.VITEST !== undefined) {
  const room = enterCleanRoom()
  // Vitest kills its processes, so their end is not heard.
  const { afterAll } = await import('vitest')
  afterAll(() => leaveCleanRoom(room))
}
