import { describe, it } from 'vitest'
import { contractOn } from './on-store.ts'

// Windows has no doors.
if (process.platform === 'win32') describe.skip('shared', () => it('has no door', () => undefined))
else contractOn('shared')
